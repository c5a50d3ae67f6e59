package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.UnsafeByteOperations;
import com.google.protobuf.WireFormat;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest.RequestCase;
import java.io.IOException;

/**
 * A {@link ProcessingRequest}, with its headers as they came.
 *
 * @param content what it tells
 * @param headers the request's or response's; none where it tells of something else
 * @param headersAreAll whether no body follows the headers
 * @param rest all but the headers
 */
record ProxyMessage(
    RequestCase content, WireHeaders headers, boolean headersAreAll, ProcessingRequest rest) {

  private static final int REQUEST_HEADERS =
      WireHeaders.tag(ProcessingRequest.REQUEST_HEADERS_FIELD_NUMBER);
  private static final int RESPONSE_HEADERS =
      WireHeaders.tag(ProcessingRequest.RESPONSE_HEADERS_FIELD_NUMBER);

  private static final int MAP = WireHeaders.tag(HttpHeaders.HEADERS_FIELD_NUMBER);
  private static final int END_OF_STREAM =
      HttpHeaders.END_OF_STREAM_FIELD_NUMBER << 3 | WireFormat.WIRETYPE_VARINT;

  /**
   * Reads a message, which must never be written again: bodies and headers stay where they are.
   *
   * <p>Fields of headers that are skipped are not looked into, nor whether texts are UTF-8.
   *
   * @throws IOException if it is none
   */
  static ProxyMessage read(byte[] message) throws IOException {
    CodedInputStream in = CodedInputStream.newInstance(message);
    int tag = in.readTag();
    if (tag != REQUEST_HEADERS && tag != RESPONSE_HEADERS) {
      return other(message);
    }
    WireHeaders headers = WireHeaders.NONE;
    boolean all = false;
    int outer = in.pushLimit(in.readRawVarint32());
    for (int field = in.readTag(); field != 0; field = in.readTag()) {
      if (field == MAP && headers != WireHeaders.NONE) {
        return other(message); // two maps are one in two parts
      } else if (field == MAP) {
        headers = WireHeaders.read(message, in);
      } else if (field == END_OF_STREAM) {
        all = in.readBool();
      } else {
        in.skipField(field);
      }
    }
    in.popLimit(outer);
    ProcessingRequest rest = parse(message, in.getTotalBytesRead());
    RequestCase content =
        tag == REQUEST_HEADERS ? RequestCase.REQUEST_HEADERS : RequestCase.RESPONSE_HEADERS;
    return switch (rest.getRequestCase()) {
      case REQUEST_NOT_SET -> new ProxyMessage(content, headers, all, rest);
      default -> other(message); // the last content is the one that counts
    };
  }

  /** A message that does not begin with headers, which is where serializers put them. */
  private static ProxyMessage other(byte[] message) throws IOException {
    ProcessingRequest whole = parse(message, 0);
    return switch (whole.getRequestCase()) {
      case REQUEST_HEADERS, RESPONSE_HEADERS -> read(whole.toByteArray());
      default -> new ProxyMessage(whole.getRequestCase(), WireHeaders.NONE, false, whole);
    };
  }

  private static ProcessingRequest parse(byte[] message, int from) throws IOException {
    if (from == message.length) {
      return ProcessingRequest.getDefaultInstance();
    }
    CodedInputStream in =
        UnsafeByteOperations.unsafeWrap(message, from, message.length - from).newCodedInput();
    in.enableAliasing(true);
    ProcessingRequest parsed = ProcessingRequest.parser().parseFrom(in);
    in.checkLastTagWas(0);
    return parsed;
  }
}
