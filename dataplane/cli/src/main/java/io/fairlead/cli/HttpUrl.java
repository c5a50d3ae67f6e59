package io.fairlead.cli;

import java.net.URI;

/** Where on the command line a URL is asked for. */
final class HttpUrl {

  private HttpUrl() {}

  /**
   * Sees that requests can be sent there.
   *
   * @param option that names it
   * @param example of one
   * @throws IllegalArgumentException if it is none of HTTP, or names no host
   */
  static void check(String option, URI url, String example) {
    if (url.getHost() == null || !String.valueOf(url.getScheme()).matches("(?i)https?")) {
      throw new IllegalArgumentException(
          "%s is %s; write a URL, such as %s".formatted(option, url, example));
    }
  }
}
