package io.fairlead.epp.openai;

/** Tells whether bodies can be read as they come. */
public final class ContentCoding {

  private static final String NONE = "identity";

  private ContentCoding() {}

  /**
   * Whether nothing has been done to a body: its header is missing, or names the coding that is
   * none, as some servers do.
   *
   * @param contentEncoding the header; empty where it is missing
   */
  public static boolean isNone(String contentEncoding) {
    return contentEncoding.isEmpty() || contentEncoding.strip().equalsIgnoreCase(NONE);
  }
}
