package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption.HeaderAppendAction;
import io.envoyproxy.envoy.service.ext_proc.v3.BodyMutation;
import io.envoyproxy.envoy.service.ext_proc.v3.BodyResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.CommonResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.HeaderMutation;
import io.envoyproxy.envoy.service.ext_proc.v3.HeadersResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ImmediateResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.StreamedBodyResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.TrailersResponse;
import io.envoyproxy.envoy.type.v3.HttpStatus;
import io.fairlead.core.Route;
import io.fairlead.epp.director.PickerHeaders;
import io.fairlead.epp.frontend.extproc.Destinations.Destination;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes the messages sent to the proxy. */
final class Answers {

  /** Lets the request's headers stand until its body is known. */
  static final ProcessingResponse REQUEST_HEADERS =
      ProcessingResponse.newBuilder()
          .setRequestHeaders(
              HeadersResponse.newBuilder().setResponse(CommonResponse.getDefaultInstance()))
          .build();

  private static final ProcessingResponse RESPONSE_HEADERS =
      ProcessingResponse.newBuilder()
          .setResponseHeaders(
              HeadersResponse.newBuilder().setResponse(CommonResponse.getDefaultInstance()))
          .build();

  static final ProcessingResponse REQUEST_TRAILERS =
      ProcessingResponse.newBuilder()
          .setRequestTrailers(TrailersResponse.getDefaultInstance())
          .build();

  /** Lets the piece of the response that was shown pass as it is. */
  static final ProcessingResponse RESPONSE_BODY =
      ProcessingResponse.newBuilder()
          .setResponseBody(
              BodyResponse.newBuilder().setResponse(CommonResponse.getDefaultInstance()))
          .build();

  static final ProcessingResponse RESPONSE_TRAILERS =
      ProcessingResponse.newBuilder()
          .setResponseTrailers(TrailersResponse.getDefaultInstance())
          .build();

  private Answers() {}

  /**
   * Sends the request there, as the answer to its headers.
   *
   * @param contentLength the body's new length where it changed, or -1
   * @param from the client's headers: what only pickers may set is taken out
   */
  static ProcessingResponse destination(
      Route route, Destination to, long contentLength, WireHeaders from) {
    return ProcessingResponse.newBuilder()
        .setRequestHeaders(
            HeadersResponse.newBuilder().setResponse(sentTo(route, to, contentLength, from)))
        .setDynamicMetadata(to.metadata())
        .build();
  }

  /**
   * Sends the request there, as the answer to its body that was shown in one piece.
   *
   * @param body what takes its place; null where it stays
   * @param contentLength the body's new length where it changed, or -1
   */
  static ProcessingResponse destination(
      Route route,
      Destination to,
      @Nullable ByteString body,
      long contentLength,
      WireHeaders from) {
    CommonResponse.Builder answer = sentTo(route, to, contentLength, from);
    if (body != null) {
      answer.setBodyMutation(BodyMutation.newBuilder().setBody(body));
    }
    return ProcessingResponse.newBuilder()
        .setRequestBody(BodyResponse.newBuilder().setResponse(answer))
        .setDynamicMetadata(to.metadata())
        .build();
  }

  private static CommonResponse.Builder sentTo(
      Route route, Destination to, long contentLength, WireHeaders from) {
    HeaderMutation.Builder headers = HeaderMutation.newBuilder();
    for (int i = 0; i < PickerHeaders.NOT_FROM_CLIENTS.size(); i++) {
      String name = PickerHeaders.NOT_FROM_CLIENTS.get(i);
      if (from.has(name)) {
        headers.addRemoveHeaders(name);
      }
    }
    set(headers, route.requestHeaders());
    headers.addSetHeaders(to.header());
    if (contentLength >= 0) {
      headers.addSetHeaders(set("content-length", Long.toString(contentLength)));
    }
    return CommonResponse.newBuilder().setHeaderMutation(headers).setClearRouteCache(true);
  }

  /**
   * Lets the response's headers pass, and adds these.
   *
   * @param newLength whether the body may become another: its length is not told then
   */
  static ProcessingResponse responseHeaders(List<Route.Header> added, boolean newLength) {
    if (added.isEmpty() && !newLength) {
      return RESPONSE_HEADERS;
    }
    HeaderMutation.Builder headers = HeaderMutation.newBuilder();
    set(headers, added);
    if (newLength) {
      headers.addRemoveHeaders("content-length");
    }
    return ProcessingResponse.newBuilder()
        .setResponseHeaders(
            HeadersResponse.newBuilder()
                .setResponse(CommonResponse.newBuilder().setHeaderMutation(headers)))
        .build();
  }

  /** Puts these bytes in the place of the piece of the response that was shown. */
  static ProcessingResponse responseBodyInstead(ByteString bytes) {
    BodyMutation.Builder mutation = BodyMutation.newBuilder();
    if (bytes.isEmpty()) {
      mutation.setClearBody(true);
    } else {
      mutation.setBody(bytes);
    }
    return ProcessingResponse.newBuilder()
        .setResponseBody(
            BodyResponse.newBuilder()
                .setResponse(CommonResponse.newBuilder().setBodyMutation(mutation)))
        .build();
  }

  static ProcessingResponse requestBody(ByteString bytes, boolean last) {
    return ProcessingResponse.newBuilder().setRequestBody(body(bytes, last)).build();
  }

  static ProcessingResponse responseBody(ByteString bytes, boolean last) {
    return ProcessingResponse.newBuilder().setResponseBody(body(bytes, last)).build();
  }

  /** Answers the client instead of the model server. */
  static ProcessingResponse instead(
      int status, String details, Map<String, String> headers, ByteString body) {
    HeaderMutation.Builder mutation = HeaderMutation.newBuilder();
    headers.forEach((name, value) -> mutation.addSetHeaders(set(name, value)));
    return ProcessingResponse.newBuilder()
        .setImmediateResponse(
            ImmediateResponse.newBuilder()
                .setStatus(HttpStatus.newBuilder().setCodeValue(status))
                .setHeaders(mutation)
                .setBody(body)
                .setDetails(details))
        .build();
  }

  private static BodyResponse body(ByteString bytes, boolean last) {
    return BodyResponse.newBuilder()
        .setResponse(
            CommonResponse.newBuilder()
                .setBodyMutation(
                    BodyMutation.newBuilder()
                        .setStreamedResponse(
                            StreamedBodyResponse.newBuilder().setBody(bytes).setEndOfStream(last))))
        .build();
  }

  private static void set(HeaderMutation.Builder mutation, List<Route.Header> headers) {
    for (int i = 0; i < headers.size(); i++) {
      mutation.addSetHeaders(set(headers.get(i).name(), headers.get(i).value()));
    }
  }

  static HeaderValueOption set(String name, String value) {
    return HeaderValueOption.newBuilder()
        .setHeader(
            HeaderValue.newBuilder().setKey(name).setRawValue(ByteString.copyFromUtf8(value)))
        .setAppendAction(HeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD)
        .build();
  }
}
