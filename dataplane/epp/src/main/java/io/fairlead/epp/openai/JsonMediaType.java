package io.fairlead.epp.openai;

import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Decides whether a request body is declared as something that can be read. */
public final class JsonMediaType {

  private static final String TYPE = "application/json";

  /** One that is in no quotes. */
  private static final Pattern COMMA = Pattern.compile(",(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)");

  private JsonMediaType() {}

  /**
   * Passes JSON in UTF-8 that is not packed.
   *
   * @param contentType the header; empty where it is missing
   * @param contentEncoding the header; empty where it is missing
   * @throws BadRequestException 415 for anything else, a missing type included: model servers
   *     refuse that too
   */
  public static void require(String contentType, String contentEncoding)
      throws BadRequestException {
    if (!ContentCoding.isNone(contentEncoding)) {
      throw unsupported("The header 'content-encoding' is set; send the body as it is.");
    }
    if (!is(contentType)) {
      throw unsupported(
          "The header 'content-type' is not 'application/json' in UTF-8; send the body as that.");
    }
  }

  /**
   * Whether a body of this type is JSON in UTF-8. Where it is said twice, as proxies join it, all
   * must say so.
   */
  static boolean is(String contentType) {
    if (contentType.equalsIgnoreCase(TYPE)) {
      return true;
    }
    if (contentType.indexOf(',') >= 0) {
      String[] said = COMMA.split(contentType, -1);
      if (said.length > 1) {
        return Stream.of(said).map(String::strip).allMatch(JsonMediaType::is);
      }
    }
    String[] parts = contentType.toLowerCase(Locale.ROOT).split(";", -1);
    boolean json = parts[0].strip().equals(TYPE);
    for (int i = 1; i < parts.length; i++) {
      String parameter = parts[i].strip().replace("\"", "");
      json &= !parameter.startsWith("charset=") || parameter.equals("charset=utf-8");
    }
    return json;
  }

  private static BadRequestException unsupported(String message) {
    return new BadRequestException(415, ErrorCodes.UNSUPPORTED_MEDIA_TYPE, message);
  }
}
