package io.fairlead.epp.frontend.gateway;

import io.fairlead.epp.openai.ErrorCodes;
import io.fairlead.epp.openai.OpenAiError;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Tells what is wrong with the form of a message, whatever it asks or answers. */
final class Framing {

  /** The longest request line that is read, in bytes. */
  static final int MAX_LINE = 8_192;

  /** How long all headers of a request may be together, and all its trailers, in bytes. */
  static final int MAX_HEADERS = 65_536;

  /**
   * How many fields a head may have, and trailers. However short, each takes {@link #FIELD_MEMORY}.
   * Proxies and servers usually allow 100, and a proxy adds some of its own.
   */
  static final int MAX_FIELDS = 200;

  /**
   * The most memory that a head takes whose connection is used again: the decoder keeps room for as
   * long a line as it has ever read, for as long as it lives.
   */
  static final long MAX_KEPT = 16 << 10;

  /** Bytes of memory of an entry, and of what holds its name and its value. */
  private static final long FIELD_MEMORY = 128;

  private Framing() {}

  /** Why this request is refused, or null. */
  static @Nullable OpenAiError refusal(HttpRequest request) {
    if (request.decoderResult().isFailure()) {
      return badHead(request.decoderResult().cause());
    }
    // Of HTTP/1.1 the codec has looked at both.
    if (request.uri().length() > MAX_LINE) {
      return lineTooLong();
    }
    if (isTooLong(request.headers())) {
      return headersTooLong();
    }
    if (!isTarget(request.uri())) {
      return Target.error(
          400,
          ErrorCodes.INVALID_HTTP,
          "The request's path or query has a character in it that can't be there; encode it.");
    }
    // A later minor version is one that this one can be answered with, RFC 9110 2.5.
    if (request.protocolVersion().majorVersion() != 1) {
      return Target.error(
          505, ErrorCodes.UNSUPPORTED_HTTP_VERSION, "Send the request as one of HTTP/1.1.");
    }
    if (!isPlain(request, false)) {
      return Target.error(
          501,
          ErrorCodes.UNSUPPORTED_TRANSFER_CODING,
          "The header 'transfer-encoding' names a coding that is not undone here; send"
              + " 'chunked' alone.");
    }
    return null;
  }

  /** Whether it has neither spaces nor control characters: servers read these in different ways. */
  private static boolean isTarget(String uri) {
    for (int i = 0; i < uri.length(); i++) {
      char c = uri.charAt(i);
      if (c <= ' ' || c == 0x7f) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether no transfer coding is left on the body of this answer when it is read. Old servers name
   * the coding that is none; a request's may not, since what is before us may take it for another.
   */
  static boolean isPlain(HttpResponse answer) {
    return isPlain(answer, true);
  }

  private static boolean isPlain(HttpMessage message, boolean orIdentity) {
    for (String codings : message.headers().getAll(HttpHeaderNames.TRANSFER_ENCODING)) {
      for (String coding : codings.split(",", -1)) {
        String name = coding.strip();
        boolean undone =
            name.isEmpty()
                || HttpHeaderValues.CHUNKED.contentEqualsIgnoreCase(name)
                || (orIdentity && HttpHeaderValues.IDENTITY.contentEqualsIgnoreCase(name));
        if (!undone) {
          return false;
        }
      }
    }
    return true;
  }

  /** Why the rest of a request can't be read. */
  static OpenAiError badBody(Throwable cause) {
    return unreadable(cause, "The request's body is not in chunks as HTTP/1.1 has them.");
  }

  private static OpenAiError badHead(Throwable cause) {
    return cause instanceof TooLongHttpLineException
        ? lineTooLong()
        : unreadable(cause, "The request is not valid HTTP/1.1.");
  }

  private static OpenAiError unreadable(Throwable cause, String otherwise) {
    return cause instanceof TooLongHttpHeaderException
        ? headersTooLong()
        : Target.error(400, ErrorCodes.INVALID_HTTP, otherwise);
  }

  private static OpenAiError lineTooLong() {
    return Target.error(
        414, ErrorCodes.URI_TOO_LONG, "The request line is longer than " + MAX_LINE + " bytes.");
  }

  /** Whether headers, or trailers, are longer together than they may be, or too many. */
  static boolean isTooLong(HttpHeaders headers) {
    if (headers.size() > MAX_FIELDS) {
      return true;
    }
    return length(headers) > MAX_HEADERS;
  }

  /** About how many bytes of memory a request's head takes. */
  static long memory(HttpRequest request) {
    return request.uri().length() + memory(request.headers());
  }

  /** About how many bytes of memory headers take. */
  static long memory(HttpHeaders headers) {
    return length(headers) + FIELD_MEMORY * headers.size();
  }

  private static long length(HttpHeaders headers) {
    long bytes = 0;
    Iterator<Map.Entry<CharSequence, CharSequence>> all = headers.iteratorCharSequence();
    while (all.hasNext()) {
      Map.Entry<CharSequence, CharSequence> header = all.next();
      bytes += header.getKey().length() + header.getValue().length();
    }
    return bytes;
  }

  /** Why a request with such headers is refused. */
  static OpenAiError headersTooLong() {
    return Target.error(
        431,
        ErrorCodes.HEADER_FIELDS_TOO_LARGE,
        "The headers, or the trailers, are longer than "
            + MAX_HEADERS
            + " bytes, or more than "
            + MAX_FIELDS
            + ".");
  }
}
