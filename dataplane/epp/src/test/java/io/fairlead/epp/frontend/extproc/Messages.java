package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.ByteString;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpTrailers;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProtocolConfiguration;

/** The messages of a proxy, as Envoy makes them. */
final class Messages {

  static final ProcessingRequest REQUEST_TRAILERS =
      ProcessingRequest.newBuilder().setRequestTrailers(HttpTrailers.getDefaultInstance()).build();

  static final ProcessingRequest RESPONSE_TRAILERS =
      ProcessingRequest.newBuilder().setResponseTrailers(HttpTrailers.getDefaultInstance()).build();

  private Messages() {}

  /** As a stream gets it: off the wire. */
  static ProxyMessage read(ProcessingRequest message) {
    return new RequestMarshaller().parse(message.toByteString().newInput());
  }

  static ProcessingRequest post(String... headers) {
    return post(BodySendMode.FULL_DUPLEX_STREAMED, BodySendMode.FULL_DUPLEX_STREAMED, headers);
  }

  /** A post with a hint of its gateway. */
  static ProcessingRequest postWithin(Value subset) {
    return post().toBuilder()
        .setMetadataContext(
            Metadata.newBuilder()
                .putFilterMetadata(
                    "envoy.lb.subset_hint",
                    Struct.newBuilder()
                        .putFields("x-gateway-destination-endpoint-subset", subset)
                        .build()))
        .build();
  }

  static ProcessingRequest get() {
    return request(
        true,
        BodySendMode.FULL_DUPLEX_STREAMED,
        BodySendMode.FULL_DUPLEX_STREAMED,
        map(":method", "GET", ":path", "/v1/models"));
  }

  /** A post of a proxy that is set up so. */
  static ProcessingRequest post(BodySendMode request, BodySendMode response, String... headers) {
    return request(false, request, response, postHeaders(headers));
  }

  private static HeaderMap postHeaders(String... headers) {
    HeaderMap own = headers.length == 0 ? map("content-type", "application/json") : map(headers);
    boolean path = own.getHeadersList().stream().anyMatch(h -> h.getKey().equals(":path"));
    return map(":method", "POST", "x-request-id", "r1").toBuilder()
        .mergeFrom(path ? HeaderMap.getDefaultInstance() : map(":path", "/v1/chat/completions"))
        .mergeFrom(own)
        .build();
  }

  private static ProcessingRequest request(
      boolean end, BodySendMode request, BodySendMode response, HeaderMap headers) {
    return ProcessingRequest.newBuilder()
        .setRequestHeaders(HttpHeaders.newBuilder().setHeaders(headers).setEndOfStream(end))
        .setProtocolConfig(
            ProtocolConfiguration.newBuilder()
                .setRequestBodyMode(request)
                .setResponseBodyMode(response))
        .build();
  }

  static ProcessingRequest body(String text, boolean end) {
    return body(ByteString.copyFromUtf8(text), end);
  }

  static ProcessingRequest body(ByteString bytes, boolean end) {
    return ProcessingRequest.newBuilder()
        .setRequestBody(HttpBody.newBuilder().setBody(bytes).setEndOfStream(end))
        .build();
  }

  static ProcessingRequest status(int status, boolean end) {
    return response(end, Integer.toString(status), "application/json");
  }

  /** The head of a stream of events. */
  static ProcessingRequest events() {
    return head(200, "text/event-stream");
  }

  /** The head of a response with a body. */
  static ProcessingRequest head(int status, String contentType) {
    return response(false, Integer.toString(status), contentType);
  }

  private static ProcessingRequest response(boolean end, String status, String contentType) {
    return ProcessingRequest.newBuilder()
        .setResponseHeaders(
            HttpHeaders.newBuilder()
                .setHeaders(map(":status", status, "content-type", contentType))
                .setEndOfStream(end))
        .build();
  }

  static ProcessingRequest responseBody(String text, boolean end) {
    return responseBody(ByteString.copyFromUtf8(text), end);
  }

  static ProcessingRequest responseBody(ByteString bytes, boolean end) {
    return ProcessingRequest.newBuilder()
        .setResponseBody(HttpBody.newBuilder().setBody(bytes).setEndOfStream(end))
        .build();
  }

  private static HeaderMap map(String... headers) {
    HeaderMap.Builder map = HeaderMap.newBuilder();
    for (int i = 0; i < headers.length; i += 2) {
      map.addHeaders(
          HeaderValue.newBuilder()
              .setKey(headers[i])
              .setRawValue(ByteString.copyFromUtf8(headers[i + 1])));
    }
    return map.build();
  }
}
