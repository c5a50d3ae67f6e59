package io.fairlead.lab.trace;

import io.fairlead.core.Rejection;
import io.fairlead.core.Route;
import java.util.List;

/** What the core did about a request: where it sent it, or why not. */
sealed interface Effect {

  /** Where it went; the reason where it went nowhere. */
  default String endpoint() {
    return toString();
  }

  /**
   * It was sent.
   *
   * @param matched leading blocks of the prompt that were believed to be cached there
   * @param cached prompt tokens that were believed to be cached by whoever computes the prompt
   * @param prefill who computes the prompt; empty when it is the endpoint itself
   */
  record Sent(
      String endpoint,
      String target,
      int matched,
      int cached,
      List<String> fallbacks,
      String prefill)
      implements Effect {}

  /**
   * It was turned away.
   *
   * @param reason code of the reason
   */
  record Rejected(String reason) implements Effect {}

  /** Its client was given what the endpoint answered. */
  record Passed() implements Effect {}

  /** Nothing was done. */
  record None() implements Effect {}

  static Effect of(Route route) {
    String prefill = "";
    for (Route.Header header : route.requestHeaders()) {
      prefill = header.name().equals("x-prefiller-host-port") ? header.value() : prefill;
    }
    return new Sent(
        route.endpoint(),
        route.targetModel(),
        route.matchedBlocks(),
        route.expectedCachedTokens(),
        route.fallbacks(),
        prefill);
  }

  static Effect of(Rejection rejection) {
    return new Rejected(rejection.reason().code());
  }

  /** As an event of a capture has it. */
  static Effect read(JsonLine event) {
    if (event.has("passed")) {
      return new Passed();
    }
    if (event.has("rejected")) {
      return new Rejected(event.text("rejected"));
    }
    if (!event.has("pick")) {
      return new None();
    }
    JsonLine pick = event.object("pick");
    return new Sent(
        pick.text("endpoint"),
        pick.text("target"),
        pick.atLeast(0, "matched"),
        pick.atLeast(0, "cached"),
        pick.texts("fallbacks"),
        pick.textOr("", "prefill"));
  }
}
