package io.fairlead.operator.testing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** An admission webhook that refuses all that it is asked for. */
public final class RefusingWebhook implements AutoCloseable {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final char[] PASSWORD = "webhook".toCharArray();

  private final HttpsServer server;
  private final String certificate;

  private RefusingWebhook(HttpsServer server, String certificate) {
    this.server = server;
    this.certificate = certificate;
  }

  /**
   * Starts one.
   *
   * @param folder for its key
   * @param code HTTP status that the API server is to answer
   */
  public static RefusingWebhook start(Path folder, int code)
      throws IOException, GeneralSecurityException {
    return start(folder, code, () -> "not now");
  }

  /**
   * The same.
   *
   * @param says asked at each refusal what to say
   */
  public static RefusingWebhook start(Path folder, int code, Supplier<String> says)
      throws IOException, GeneralSecurityException {
    return start(folder, exchange -> refuse(exchange, code, says.get()));
  }

  /**
   * Starts one that takes every question and answers none.
   *
   * @param folder for its key
   * @param asked told of each question
   */
  public static RefusingWebhook hanging(Path folder, Runnable asked)
      throws IOException, GeneralSecurityException {
    return hanging(folder, name -> asked.run());
  }

  /**
   * The same.
   *
   * @param asked told of the object of each question, by its name
   */
  public static RefusingWebhook hanging(Path folder, Consumer<String> asked)
      throws IOException, GeneralSecurityException {
    // An exchange that nobody closes stays open.
    return start(
        folder,
        exchange ->
            asked.accept(MAPPER.readTree(exchange.getRequestBody()).at("/request/name").asText()));
  }

  /**
   * Starts one that changes what it is asked about, as policies for images do.
   *
   * @param folder for its key
   * @param patch JSON patch of the object
   */
  public static RefusingWebhook changing(Path folder, String patch)
      throws IOException, GeneralSecurityException {
    return start(folder, exchange -> change(exchange, patch));
  }

  private static RefusingWebhook start(Path folder, HttpHandler handler)
      throws IOException, GeneralSecurityException {
    KeyStore keys = keys(folder);
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(keys, PASSWORD);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(factory.getKeyManagers(), null, null);
    HttpsServer server =
        HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(context));
    server.createContext("/", handler);
    server.start();
    String pem =
        "-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n"
            .formatted(
                Base64.getMimeEncoder(64, new byte[] {'\n'})
                    .encodeToString(keys.getCertificate("webhook").getEncoded()));
    return new RefusingWebhook(
        server, Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.UTF_8)));
  }

  private static KeyStore keys(Path folder) throws IOException, GeneralSecurityException {
    Path file = folder.resolve("webhook.p12");
    try {
      int code =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                  "-genkeypair",
                  "-alias",
                  "webhook",
                  "-keyalg",
                  "EC",
                  "-storetype",
                  "PKCS12",
                  "-keystore",
                  file.toString(),
                  "-storepass",
                  new String(PASSWORD),
                  "-dname",
                  "CN=webhook",
                  "-ext",
                  "san=ip:127.0.0.1")
              .inheritIO()
              .start()
              .waitFor();
      if (code != 0) {
        throw new IllegalStateException("keytool ended with " + code);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      keys.load(in, PASSWORD);
    }
    return keys;
  }

  private static void refuse(HttpExchange exchange, int code, String why) throws IOException {
    answer(exchange, Map.of("allowed", false, "status", Map.of("code", code, "message", why)));
  }

  private static void change(HttpExchange exchange, String patch) throws IOException {
    String encoded = Base64.getEncoder().encodeToString(patch.getBytes(StandardCharsets.UTF_8));
    answer(exchange, Map.of("allowed", true, "patchType", "JSONPatch", "patch", encoded));
  }

  private static void answer(HttpExchange exchange, Map<String, Object> said) throws IOException {
    try (exchange) {
      JsonNode review = MAPPER.readTree(exchange.getRequestBody());
      Map<String, Object> response = new HashMap<>(said);
      response.put("uid", review.path("request").path("uid").asText());
      byte[] answer =
          MAPPER.writeValueAsBytes(
              Map.of(
                  "apiVersion",
                  "admission.k8s.io/v1",
                  "kind",
                  "AdmissionReview",
                  "response",
                  response));
      exchange.getResponseHeaders().add("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, answer.length);
      exchange.getResponseBody().write(answer);
    }
  }

  /** Where the API server finds it. */
  public String url() {
    return "https://127.0.0.1:%d/".formatted(server.getAddress().getPort());
  }

  /** Whom the API server is to trust, as a webhook's {@code caBundle}. */
  public String certificate() {
    return certificate;
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
