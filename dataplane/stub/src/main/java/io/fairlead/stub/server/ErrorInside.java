package io.fairlead.stub.server;

import java.util.List;

/** Errors that come with status 200, as servers and proxies before them have them. */
final class ErrorInside {

  private static final List<String> BODIES =
      List.of(
          "{\"error\":\"Failed on demand.\"}",
          "{\"error\":{\"message\":\"Failed on demand.\",\"type\":\"server_error\",\"param\":null}}",
          "{\"object\":\"error\",\"message\":\"Failed on demand.\",\"type\":\"InternalServerError\","
              + "\"param\":null,\"code\":500}",
          "{\"error\":{\"message\":\"Failed on demand.\",\"code\":\"internal_error\"}}");

  private ErrorInside() {}

  /**
   * Of the same forms once more in a stream of events.
   *
   * @param form from 1 on
   */
  static String body(int form) {
    String body = BODIES.get((form - 1) % BODIES.size());
    return isStreamed(form) ? "data: " + body + "\n\ndata: [DONE]\n\n" : body;
  }

  static String contentType(int form) {
    return isStreamed(form) ? "text/event-stream; charset=utf-8" : "application/json";
  }

  private static boolean isStreamed(int form) {
    return form > BODIES.size();
  }
}
