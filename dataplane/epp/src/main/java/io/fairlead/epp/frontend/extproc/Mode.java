package io.fairlead.epp.frontend.extproc;

import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.fairlead.epp.openai.BadRequestException;
import io.fairlead.epp.openai.ErrorCodes;

/** How a proxy is set up to show a request and its response; it says so in its first message. */
record Mode(RequestMode request, ResponseMode response) {

  /** What the endpoint picker protocol asks for, and what is meant where nothing is said. */
  static final Mode FULL_DUPLEX = new Mode(RequestMode.FULL_DUPLEX, ResponseMode.FULL_DUPLEX);

  /**
   * The mode that a stream's first message asks for.
   *
   * @throws BadRequestException if it is not served; the message says what to set
   */
  static Mode of(ProcessingRequest first) throws BadRequestException {
    if (!first.hasProtocolConfig()) {
      return FULL_DUPLEX;
    }
    RequestMode request = RequestMode.of(first.getProtocolConfig().getRequestBodyMode());
    ResponseMode response = ResponseMode.of(first.getProtocolConfig().getResponseBodyMode());
    return request == FULL_DUPLEX.request && response == FULL_DUPLEX.response
        ? FULL_DUPLEX
        : new Mode(request, response);
  }

  static BadRequestException notServed(String field, Enum<?> mode, String served) {
    return new BadRequestException(
        500,
        ErrorCodes.UNSERVED_MODE,
        "The gateway is set up for processing_mode.%s: %s, which is not served; set it to %s."
            .formatted(field, mode, served));
  }
}
