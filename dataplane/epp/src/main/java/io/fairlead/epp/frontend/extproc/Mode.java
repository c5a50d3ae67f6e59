package io.fairlead.epp.frontend.extproc;

import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProtocolConfiguration;

/** How a proxy is set up to show a request and its response; it says so in its first message. */
record Mode(RequestMode request, ResponseMode response) {

  /** What the endpoint picker protocol asks for, and what is meant where nothing is said. */
  static final Mode FULL_DUPLEX = new Mode(RequestMode.FULL_DUPLEX, ResponseMode.FULL_DUPLEX);

  /** A proxy is set up for what is not served; the message says what to set. */
  static final class NotServedException extends Exception {

    NotServedException(String message) {
      super(message);
    }
  }

  /** The mode that a stream's first message asks for. */
  static Mode of(ProcessingRequest first) throws NotServedException {
    if (first.getObservabilityMode()) {
      throw new NotServedException("observability_mode: true is not served; set it to false");
    }
    if (first.hasProtocolConfig()) {
      ProtocolConfiguration modes = first.getProtocolConfig();
      require("request_body_mode", modes.getRequestBodyMode());
      require("response_body_mode", modes.getResponseBodyMode());
    }
    return FULL_DUPLEX;
  }

  private static void require(String field, BodySendMode mode) throws NotServedException {
    if (mode != BodySendMode.FULL_DUPLEX_STREAMED) {
      throw new NotServedException(
          "protocol_config.%s: %s is not served; set processing_mode.%s to FULL_DUPLEX_STREAMED"
              .formatted(field, mode, field));
    }
  }
}
