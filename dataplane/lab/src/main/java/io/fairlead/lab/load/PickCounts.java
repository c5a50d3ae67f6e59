package io.fairlead.lab.load;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How often a picker has chosen each endpoint, from its metrics page. */
public final class PickCounts {

  private static final Pattern SENT =
      Pattern.compile(
          "^fairlead_endpoint_sent_total\\{endpoint=\"([^\"]*)\"} (\\d+)$", Pattern.MULTILINE);
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private PickCounts() {}

  /**
   * Reads the page.
   *
   * @throws IOException if it isn't there
   */
  public static Map<String, Long> read(URI page) throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newBuilder().connectTimeout(TIMEOUT).build()) {
      HttpResponse<String> answer =
          client.send(
              HttpRequest.newBuilder(page).timeout(TIMEOUT).build(),
              HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() != 200) {
        throw new IOException(page + " answered " + answer.statusCode());
      }
      return of(answer.body());
    }
  }

  static Map<String, Long> of(String page) {
    var counts = new TreeMap<String, Long>();
    Matcher matcher = SENT.matcher(page);
    while (matcher.find()) {
      counts.put(matcher.group(1), Long.valueOf(matcher.group(2)));
    }
    return counts;
  }
}
