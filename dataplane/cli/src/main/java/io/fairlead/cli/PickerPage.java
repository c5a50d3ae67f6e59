package io.fairlead.cli;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** What a picker tells over HTTP. */
public final class PickerPage {

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private PickerPage() {}

  /**
   * Asks for a page; blocks.
   *
   * @param picker where it tells its metrics
   * @param path of the page, from the root
   * @throws IOException if nobody answers, or the answer is none; the message names the page
   */
  public static String read(URI picker, String path) throws IOException, InterruptedException {
    HttpUrl.check("--picker", picker, "http://localhost:9090");
    URI asked = picker.resolve(path);
    try (HttpClient client = HttpClient.newBuilder().connectTimeout(PATIENCE).build()) {
      HttpResponse<String> answer =
          client.send(
              HttpRequest.newBuilder(asked).timeout(PATIENCE).build(), BodyHandlers.ofString());
      if (answer.statusCode() != 200) {
        throw new IOException(asked + ": " + answer.body().strip());
      }
      return answer.body();
    } catch (IOException e) {
      throw e.getMessage() == null
          ? new IOException(asked + ": nobody answers; is the picker's port forwarded?", e)
          : e;
    }
  }
}
