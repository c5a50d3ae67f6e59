package io.fairlead.epp.frontend.gateway;

import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.Rejection;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.epp.director.PassedAnswer;
import io.fairlead.epp.director.RequestObserver;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Writes down what the core is told: {@code sent chat a 1}, {@code sent chat b 2 DIED}, {@code
 * first}, {@code ended …}; and beside it what clients got: {@code 12 bytes, 0 events}.
 */
record EventLog(Queue<String> events, Queue<String> answers) implements RequestObserver {

  @Override
  public void decided(long nanos) {}

  @Override
  public void sent(String model, Route route) {
    events.add("sent " + model + " " + route.endpoint() + " " + route.attempt());
  }

  @Override
  public void sentAgain(String model, Route route, @Nullable Failure failure) {
    events.add("sent " + model + " " + route.endpoint() + " " + route.attempt() + " " + failure);
  }

  @Override
  public void firstToken(String model, Route route, long nanos) {
    events.add("first");
  }

  @Override
  public void ended(String model, Route route, Outcome outcome, Usage usage, long nanos) {
    events.add(
        "ended " + outcome.code() + " " + usage.promptTokens() + "/" + usage.completionTokens());
  }

  @Override
  public void answered(String model, PassedAnswer answer) {
    answers.add(answer.bytes() + " bytes, " + answer.events() + " events");
  }

  @Override
  public void refused(String frontend, String code) {
    events.add("refused by " + frontend + ": " + code);
  }

  @Override
  public void timeoutHeaderIgnored(String reason) {
    events.add("timeout header ignored: " + reason);
  }

  @Override
  public void flowHeaderIgnored(String reason) {
    events.add("flow header ignored: " + reason);
  }

  @Override
  public void rejected(String model, Rejection rejection) {
    events.add("rejected " + model + " " + rejection.reason().code());
  }
}
