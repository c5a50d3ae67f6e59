package io.fairlead.stub.server;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.function.Function;

/** Answers in one piece when the last token is out. */
final class WholeReply implements Reply {

  private final Exchange exchange;
  private final CompletionRequest request;
  private final Function<Progress, ObjectNode> whole;
  private final Progress progress;

  /**
   * @param whole the answer to what was computed
   */
  WholeReply(Exchange exchange, CompletionRequest request, Function<Progress, ObjectNode> whole) {
    this.exchange = exchange;
    this.request = request;
    this.whole = whole;
    progress = new Progress(request);
  }

  @Override
  public void first(int choice, int cachedTokens) {
    progress.first(choice, cachedTokens);
  }

  @Override
  public void token(int choice, int n) {
    progress.token(choice, n);
  }

  @Override
  public void end(int choice) {
    if (progress.end(choice)) {
      answer();
    }
  }

  @Override
  public void fail(ApiError error) {
    exchange.error(error);
  }

  @Override
  public void abort() {
    answer();
  }

  private void answer() {
    exchange.completion(request.model(), whole.apply(progress));
  }
}
