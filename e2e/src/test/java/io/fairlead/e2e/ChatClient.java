package io.fairlead.e2e;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** A client of the OpenAI API that sends exactly the bytes it is given. */
final class ChatClient implements AutoCloseable {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(30))
          .build();
  private final URI completions;

  ChatClient(URI base) {
    this.completions = base.resolve("/v1/chat/completions");
  }

  /** Posts a JSON body. */
  HttpResponse<String> post(String body) {
    HttpRequest request =
        HttpRequest.newBuilder(completions)
            .timeout(Duration.ofSeconds(60))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    try {
      return client.send(request, BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** Asks a model for a short answer and returns the model that gave it. */
  String servedBy(String model) {
    HttpResponse<String> response =
        post(
            """
            {"model": "%s", "max_tokens": 2, "messages": [{"role": "user", "content": "hello"}]}"""
                .formatted(model));
    if (response.statusCode() != 200) {
      throw new AssertionError(response.statusCode() + " " + response.body());
    }
    return response.headers().firstValue("x-stub-model").orElseThrow();
  }

  /** Reads a body. */
  static JsonNode json(String body) {
    try {
      return JSON.readTree(body);
    } catch (JsonProcessingException e) {
      throw new AssertionError("not JSON: " + body, e);
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
