package io.fairlead.epp.frontend.extproc;

import io.fairlead.epp.openai.BadRequestException;
import io.fairlead.epp.openai.ErrorCodes;
import java.util.Locale;

/** Decides whether a request body is declared as something that can be read. */
final class JsonMediaType {

  private static final String TYPE = "application/json";

  private JsonMediaType() {}

  /**
   * Passes JSON in UTF-8.
   *
   * @throws BadRequestException 415 for anything else, a missing header included: model servers
   *     refuse that too
   */
  static void require(String contentType) throws BadRequestException {
    if (contentType.equalsIgnoreCase(TYPE)) {
      return;
    }
    String[] parts = contentType.toLowerCase(Locale.ROOT).split(";", -1);
    boolean json = parts[0].strip().equals(TYPE);
    for (int i = 1; i < parts.length; i++) {
      String parameter = parts[i].strip().replace("\"", "");
      json &= !parameter.startsWith("charset=") || parameter.equals("charset=utf-8");
    }
    if (!json) {
      throw new BadRequestException(
          415,
          ErrorCodes.UNSUPPORTED_MEDIA_TYPE,
          "The header 'content-type' is not 'application/json' in UTF-8; send the body as that.");
    }
  }
}
