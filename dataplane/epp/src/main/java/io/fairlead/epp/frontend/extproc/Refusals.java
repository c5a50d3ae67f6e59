package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.UnsafeByteOperations;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.fairlead.core.Rejection;
import io.fairlead.epp.openai.BadRequestException;
import io.fairlead.epp.openai.ErrorCodes;
import io.fairlead.epp.openai.OpenAiError;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Errors for the client, as answers that the proxy gives in the model server's place. Their shape
 * is that of the API whose path was called.
 */
final class Refusals {

  /** Tells gateways of the endpoint picker protocol, in their words, why a request was dropped. */
  private static final String DROPPED_REASON = "x-llm-d-request-dropped-reason";

  private static final String ENDING = "rejected-shutting-down";

  private Refusals() {}

  static ProcessingResponse of(BadRequestException problem, String path) {
    boolean full =
        problem.code().equals(ErrorCodes.BODY_MEMORY_FULL)
            || problem.code().equals(ErrorCodes.PICKER_BUSY);
    boolean ending = problem.code().equals(ErrorCodes.SHUTTING_DOWN);
    return answer(
        OpenAiError.of(problem), path, full ? "rejected-saturated" : ending ? ENDING : "");
  }

  static ProcessingResponse of(Rejection rejection, String path) {
    return answer(
        OpenAiError.of(rejection),
        path,
        switch (rejection.reason()) {
          case NO_READY_ENDPOINTS, NOT_CONFIGURED -> "rejected-no-endpoints";
          case SATURATED, NO_SUITABLE_ENDPOINT, QUEUE_FULL -> "rejected-saturated";
          case QUEUE_TIMEOUT, OBJECTIVE_MISSED -> "rejected-ttl-expired";
          case EVICTED_IN_FLIGHT -> "evicted";
          case EVICTED -> "evicted-queue-pressure";
          case SHUTTING_DOWN -> ENDING;
          case UPSTREAM_FAILED,
              NO_SOCKET,
              FIRST_BYTE_TIMEOUT,
              SILENCE_TIMEOUT,
              TOTAL_TIMEOUT,
              PLUGIN_FAILED ->
              "";
        });
  }

  private static ProcessingResponse answer(OpenAiError error, String path, String dropped) {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("content-type", OpenAiError.CONTENT_TYPE);
    headers.put(OpenAiError.REASON_HEADER, error.code());
    if (error.retryAfterSeconds() >= 0) {
      headers.put("retry-after", Integer.toString(error.retryAfterSeconds()));
    }
    if (!dropped.isEmpty()) {
      headers.put(DROPPED_REASON, dropped);
    }
    return Answers.instead(
        error.status(), error.code(), headers, UnsafeByteOperations.unsafeWrap(error.body(path)));
  }
}
