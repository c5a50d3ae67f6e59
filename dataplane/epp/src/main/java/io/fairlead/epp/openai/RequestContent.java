package io.fairlead.epp.openai;

import java.util.Locale;

/**
 * What a request's head says of its body, as far as it decides how that is read.
 *
 * @param kind how it is read
 * @param path of the request; a query is ignored
 * @param boundary between the parts of a form; empty for what is none
 */
public record RequestContent(Kind kind, String path, String boundary) {

  /** How a body is read. */
  public enum Kind {
    JSON,
    FORM,
    /** Not at all. */
    OPAQUE
  }

  /** Of a request of which nothing is known. */
  public static final RequestContent NONE = new RequestContent(Kind.OPAQUE, "", "");

  private static final String FORM_TYPE = "multipart/form-data";
  private static final String BOUNDARY = "boundary=";
  private static final int LONGEST_BOUNDARY = 70;

  /**
   * What the headers say. On paths that take JSON only, a body that is declared as something else
   * is refused, as model servers do; elsewhere it is passed on unread.
   *
   * @param contentType the header; empty where it is missing
   * @param contentEncoding the header; empty where it is missing
   * @throws BadRequestException 415 or 400 for a body that no model server would read either
   */
  public static RequestContent of(String path, String contentType, String contentEncoding)
      throws BadRequestException {
    Operation operation = Operation.of(path);
    boolean takesJsonOnly = operation != Operation.OTHER && !operation.isForm();
    boolean plain = ContentCoding.isNone(contentEncoding);
    if (takesJsonOnly || (plain && !operation.isForm() && JsonMediaType.is(contentType))) {
      JsonMediaType.require(contentType, contentEncoding);
      return new RequestContent(Kind.JSON, path, "");
    }
    if (plain && isForm(contentType)) {
      return new RequestContent(Kind.FORM, path, boundary(contentType));
    }
    return new RequestContent(Kind.OPAQUE, path, "");
  }

  /**
   * Whether there need be no body, whatever it is declared as: clients declare what isn't there.
   */
  boolean mayBeEmpty() {
    return Operation.of(path) == Operation.OTHER;
  }

  private static boolean isForm(String contentType) {
    int end = contentType.indexOf(';');
    String type = end < 0 ? contentType : contentType.substring(0, end);
    return type.strip().equalsIgnoreCase(FORM_TYPE);
  }

  private static String boundary(String contentType) throws BadRequestException {
    for (String parameter : contentType.split(";", -1)) {
      String text = parameter.strip();
      if (text.toLowerCase(Locale.ROOT).startsWith(BOUNDARY)) {
        String value = text.substring(BOUNDARY.length()).strip();
        boolean quoted = value.length() >= 2 && value.startsWith("\"") && value.endsWith("\"");
        String boundary = quoted ? value.substring(1, value.length() - 1) : value;
        if (!boundary.isEmpty() && boundary.length() <= LONGEST_BOUNDARY) {
          return boundary;
        }
      }
    }
    throw new BadRequestException(
        400,
        ErrorCodes.INVALID_FORM,
        "The header 'content-type' names no 'boundary' of at most "
            + LONGEST_BOUNDARY
            + " characters for the form; add it.");
  }
}
