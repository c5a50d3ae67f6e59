package io.fairlead.crds.testing;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** What the API server was asked, by whom, and what it answered: its own audit log. */
public final class AuditLog {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Bodies of writes tell what was changed; those of the admin are as large as our CRDs. */
  private static final String POLICY =
      """
      apiVersion: audit.k8s.io/v1
      kind: Policy
      omitStages: [RequestReceived]
      rules:
      - level: None
        nonResourceURLs: ["/healthz*", "/livez*", "/readyz*", "/openapi*", "/version*"]
      - level: Request
        verbs: [patch, update]
        resources:
        - {group: inference.networking.k8s.io}
        - {group: inference.networking.x-k8s.io}
        - {group: fairlead.io}
      - level: Metadata
      """;

  private final Path file;
  private final KubernetesClient client;

  AuditLog(Path file, KubernetesClient client) {
    this.file = file;
    this.client = client;
  }

  /** Writes the policy into a folder, and returns its path. */
  static Path policy(Path folder) throws IOException {
    return Files.writeString(folder.resolve("audit-policy.yaml"), POLICY);
  }

  /** A moment in the log. */
  public record Mark(long position) {}

  /**
   * A request.
   *
   * @param user in whose name; of somebody who impersonates it is the other
   * @param agent the program, as it calls itself
   * @param verb as roles spell it
   * @param group of the API; empty for the core
   * @param resource plural; with a subresource as in {@code pods/status}; empty for other addresses
   * @param namespace empty for what is the cluster's
   * @param name empty where none is named
   * @param code of the answer
   * @param body of a write to a kind of ours or of the Gateway API's inference extension; else
   *     missing
   */
  public record Request(
      String user,
      String agent,
      String verb,
      String group,
      String resource,
      String namespace,
      String name,
      int code,
      JsonNode body) {

    /** Whether it was meant to change something. */
    public boolean writes() {
      return !List.of("get", "list", "watch").contains(verb);
    }

    /** What a role had to allow, as {@code verb resource.group}: an apply may make the object. */
    public List<String> rights() {
      boolean made = verb.equals("patch") && code == HttpURLConnection.HTTP_CREATED;
      return resource.isEmpty()
          ? List.of()
          : made ? List.of(right(verb), right("create")) : List.of(right(verb));
    }

    private String right(String asked) {
      return AuditLog.right(asked, group, resource);
    }

    @Override
    public String toString() {
      return "%s %s%s %s/%s: %d %s"
          .formatted(
              verb, resource, group.isEmpty() ? "" : "." + group, namespace, name, code, body);
    }
  }

  /** A right as {@link Request#rights} spells it. */
  public static String right(String verb, String group, String resource) {
    return verb + " " + (group.isEmpty() ? resource : resource + "." + group);
  }

  /** Now. All that was answered before is before it. */
  public Mark mark() {
    return new Mark(passed());
  }

  /** All requests whose answers began after the mark, in the order of these. */
  public List<Request> since(Mark mark) {
    passed();
    return List.copyOf(read(mark.position()).values());
  }

  /** Asks something that shows up in the log, and waits for that. */
  private long passed() {
    String name = "audit-mark-" + UUID.randomUUID();
    long before = end();
    client.configMaps().inNamespace("default").withName(name).get();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> read(before).values().stream().anyMatch(r -> r.name().equals(name)));
    return end();
  }

  /** Where the last whole line ends: the API server may be at the next one just now. */
  private long end() {
    if (!Files.exists(file)) {
      return 0;
    }
    try (RandomAccessFile log = new RandomAccessFile(file.toFile(), "r")) {
      long end = log.length();
      for (byte[] one = new byte[1]; end > 0; end--) {
        log.seek(end - 1);
        log.readFully(one);
        if (one[0] == '\n') {
          break;
        }
      }
      return end;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** By the request's own id: a watch is told of when it begins and when it ends. */
  private Map<String, Request> read(long from) {
    Map<String, Request> requests = new LinkedHashMap<>();
    try (RandomAccessFile log = new RandomAccessFile(file.toFile(), "r")) {
      log.seek(from);
      byte[] bytes = new byte[(int) (log.length() - from)];
      log.readFully(bytes);
      String text = new String(bytes, StandardCharsets.UTF_8);
      // The last line may be half written yet.
      for (String line : text.substring(0, text.lastIndexOf('\n') + 1).lines().toList()) {
        JsonNode event = JSON.readTree(line);
        requests.putIfAbsent(event.path("auditID").asText(), request(event));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return requests;
  }

  private static Request request(JsonNode event) {
    JsonNode object = event.path("objectRef");
    JsonNode user =
        event.has("impersonatedUser") ? event.path("impersonatedUser") : event.path("user");
    String sub = object.path("subresource").asText();
    return new Request(
        user.path("username").asText(),
        event.path("userAgent").asText(),
        event.path("verb").asText(),
        object.path("apiGroup").asText(),
        object.path("resource").asText() + (sub.isEmpty() ? "" : "/" + sub),
        object.path("namespace").asText(),
        object.path("name").asText(),
        event.path("responseStatus").path("code").asInt(),
        event.path("requestObject"));
  }
}
