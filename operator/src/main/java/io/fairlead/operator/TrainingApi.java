package io.fairlead.operator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.fabric8.zjsonpatch.JsonPatch;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * As much of an API server as the operator needs to go about its work: it keeps objects in memory,
 * lists and watches them, and believes everything. No test goes by it; those have a real one.
 */
final class TrainingApi implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TrainingApi.class);
  private static final JsonMapper JSON = new JsonMapper();
  private static final int NO_BODY = -1;

  private final HttpServer server;
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();

  /** By collection, then by {@code namespace/name}. */
  private final Map<String, Map<String, ObjectNode>> objects = new HashMap<>();

  private final Map<String, List<BlockingQueue<String>>> watches = new HashMap<>();
  private long version = 1;

  /**
   * Starts on a free port of the loopback interface.
   *
   * @param keys a PKCS #12 store with the key to serve TLS with; null for plain HTTP
   * @param password of the store
   */
  TrainingApi(@Nullable Path keys, String password) throws IOException, GeneralSecurityException {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    if (keys == null) {
      server = HttpServer.create(address, 0);
    } else {
      HttpsServer tls = HttpsServer.create(address, 0);
      tls.setHttpsConfigurator(new HttpsConfigurator(context(keys, password.toCharArray())));
      server = tls;
    }
    server.setExecutor(executor);
    server.createContext("/", this::serve);
    server.start();
  }

  private static SSLContext context(Path keys, char[] password)
      throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(keys)) {
      store.load(in, password);
    }
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, password);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(factory.getKeyManagers(), null, null);
    return context;
  }

  /** Where it is. */
  String url() {
    return "%s://127.0.0.1:%d"
        .formatted(server instanceof HttpsServer ? "https" : "http", server.getAddress().getPort());
  }

  @Override
  public void close() {
    server.stop(0);
    executor.shutdownNow();
  }

  /**
   * Whose objects a path is about.
   *
   * @param name empty for the whole collection
   */
  private record Target(String api, String plural, String namespace, String name) {
    /** Of {@code /api/VERSION/…} or {@code /apis/GROUP/VERSION/…}. */
    static Target of(String path) {
      String[] parts = path.substring(1).split("/", -1);
      int at = parts[0].equals("api") ? 2 : 3;
      String api = parts[0].equals("api") ? parts[1] : parts[1] + "/" + parts[2];
      String namespace = "";
      if (parts.length > at + 2 && parts[at].equals("namespaces")) {
        namespace = parts[at + 1];
        at += 2;
      }
      return new Target(api, parts[at], namespace, parts.length > at + 1 ? parts[at + 1] : "");
    }

    String collection() {
      return api + "/" + plural;
    }

    String key() {
      return namespace + "/" + name;
    }
  }

  private void serve(HttpExchange exchange) throws IOException {
    try (exchange) {
      URI uri = exchange.getRequestURI();
      String query = String.valueOf(uri.getQuery());
      if (isGroup(uri.getPath())) {
        answer(exchange, HttpURLConnection.HTTP_OK, kinds());
        return;
      }
      Target target = Target.of(uri.getPath());
      if (query.contains("watch=true") || query.contains("watch=1")) {
        if ("websocket".equalsIgnoreCase(exchange.getRequestHeaders().getFirst("Upgrade"))) {
          // No web sockets here, this answer says: the client takes a plain request then.
          exchange.sendResponseHeaders(HttpURLConnection.HTTP_OK, NO_BODY);
        } else {
          watch(exchange, target);
        }
        return;
      }
      byte[] body = exchange.getRequestBody().readAllBytes();
      ObjectNode answer = answer(exchange.getRequestMethod(), target, body);
      answer(
          exchange,
          answer == null ? HttpURLConnection.HTTP_NOT_FOUND : HttpURLConnection.HTTP_OK,
          answer == null ? status("not found") : answer);
    } catch (RuntimeException e) {
      LOG.error("{} fails", exchange.getRequestURI(), e);
      throw e;
    }
  }

  /** Of an API's kinds, and not of objects. */
  private static boolean isGroup(String path) {
    return path.split("/", -1).length <= (path.startsWith("/api/") ? 3 : 4);
  }

  /** Each API has all of them: nobody asks where one isn't. */
  private static ObjectNode kinds() {
    ObjectNode list = JSON.createObjectNode().put("kind", "APIResourceList");
    ArrayNode kinds = list.putArray("resources");
    for (String kind : List.of("InferencePool", "InferenceModel", "EndpointPicker")) {
      kinds
          .addObject()
          .put("name", kind.toLowerCase(Locale.ROOT) + "s")
          .put("kind", kind)
          .put("namespaced", true);
    }
    return list;
  }

  private static ObjectNode status(String message) {
    return JSON.createObjectNode()
        .put("kind", "Status")
        .put("apiVersion", "v1")
        .put("status", "Failure")
        .put("message", message)
        .put("code", HttpURLConnection.HTTP_NOT_FOUND);
  }

  private static void answer(HttpExchange exchange, int code, JsonNode body) throws IOException {
    byte[] bytes = JSON.writeValueAsBytes(body);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(code, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  private void watch(HttpExchange exchange, Target target) throws IOException {
    BlockingQueue<String> events = new LinkedBlockingQueue<>();
    long seen = seen(String.valueOf(exchange.getRequestURI().getQuery()));
    synchronized (this) {
      objects.getOrDefault(target.collection(), Map.of()).values().stream()
          .filter(object -> object.path("metadata").path("resourceVersion").asLong() > seen)
          .forEach(object -> events.add(event("MODIFIED", object)));
      watches.computeIfAbsent(target.collection(), of -> new ArrayList<>()).add(events);
    }
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(HttpURLConnection.HTTP_OK, 0);
    OutputStream out = exchange.getResponseBody();
    out.flush();
    try {
      while (true) {
        out.write(events.take().getBytes(StandardCharsets.UTF_8));
        out.flush();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The version that a watch begins at. */
  private static long seen(String query) {
    for (String parameter : query.split("&", -1)) {
      if (parameter.startsWith("resourceVersion=")) {
        return Long.parseLong(parameter.substring("resourceVersion=".length()));
      }
    }
    return 0;
  }

  private synchronized @Nullable ObjectNode answer(String method, Target target, byte[] body)
      throws IOException {
    Map<String, ObjectNode> kind =
        objects.computeIfAbsent(target.collection(), of -> new LinkedHashMap<>());
    ObjectNode there = kind.get(target.key());
    return switch (method) {
      case "GET" -> target.name().isEmpty() ? list(target, kind) : there;
      case "DELETE" -> there == null ? null : changed("DELETED", target, there);
      case "PATCH" -> patch(target, there, JSON.readTree(body));
      default -> {
        ObjectNode sent = (ObjectNode) JSON.readTree(body);
        yield put(named(target, sent), sent);
      }
    };
  }

  private ObjectNode list(Target target, Map<String, ObjectNode> kind) {
    ObjectNode list = JSON.createObjectNode().put("kind", "List").put("apiVersion", target.api());
    list.putObject("metadata").put("resourceVersion", Long.toString(version));
    ArrayNode items = list.putArray("items");
    kind.forEach(
        (key, object) -> {
          if (target.namespace().isEmpty() || key.startsWith(target.namespace() + "/")) {
            items.add(object);
          }
        });
    return list;
  }

  private Target named(Target target, ObjectNode sent) {
    String name = sent.path("metadata").path("name").asText();
    return new Target(
        target.api(),
        target.plural(),
        target.namespace(),
        name.isEmpty() ? "object-" + version : name);
  }

  private ObjectNode patch(Target target, @Nullable ObjectNode there, JsonNode patch) {
    ObjectNode result = there == null ? JSON.createObjectNode() : there.deepCopy();
    if (patch.isArray()) {
      result = (ObjectNode) JsonPatch.apply(patch, result);
    } else {
      merge(result, (ObjectNode) patch);
      ObjectNode managed = result.withObject("/metadata").putArray("managedFields").addObject();
      managed
          .put("manager", "fairlead-epp")
          .put("operation", "Apply")
          .put("apiVersion", target.api())
          .put("fieldsType", "FieldsV1")
          .put("time", now())
          .set("fieldsV1", fields(patch));
      ObjectNode fields = managed.withObject("/fieldsV1");
      fields.remove(List.of("f:apiVersion", "f:kind"));
      fields
          .withObject("/f:metadata")
          .remove(List.of("f:name", "f:namespace", "f:uid", "f:resourceVersion"));
    }
    return there != null && said(there).equals(said(result)) ? there : put(target, result);
  }

  /** What changes with every write aside. */
  private static ObjectNode said(ObjectNode object) {
    ObjectNode said = object.deepCopy();
    said.withObject("/metadata").remove(List.of("resourceVersion", "managedFields"));
    return said;
  }

  private static void merge(ObjectNode into, ObjectNode from) {
    for (Map.Entry<String, JsonNode> field : from.properties()) {
      if (field.getValue() instanceof ObjectNode inner
          && into.get(field.getKey()) instanceof ObjectNode old) {
        merge(old, inner);
      } else {
        into.set(field.getKey(), field.getValue().deepCopy());
      }
    }
  }

  /** What was applied, as managed fields spell it; lists as one. */
  private static ObjectNode fields(JsonNode applied) {
    ObjectNode fields = JSON.createObjectNode();
    for (Map.Entry<String, JsonNode> field : applied.properties()) {
      fields.set(
          "f:" + field.getKey(),
          field.getValue().isObject() ? fields(field.getValue()) : JSON.createObjectNode());
    }
    return fields;
  }

  private ObjectNode put(Target target, ObjectNode object) {
    Map<String, ObjectNode> kind =
        objects.computeIfAbsent(target.collection(), of -> new LinkedHashMap<>());
    ObjectNode there = kind.get(target.key());
    ObjectNode metadata = object.withObject("/metadata");
    metadata.put("name", target.name()).put("namespace", target.namespace());
    if (there == null) {
      metadata
          .put("uid", UUID.randomUUID().toString())
          .put("creationTimestamp", now())
          .put("generation", 1);
    } else if (!object.path("spec").equals(there.path("spec"))) {
      metadata.put("generation", there.path("metadata").path("generation").asLong() + 1);
    }
    metadata.put("resourceVersion", Long.toString(++version));
    kind.put(target.key(), object);
    return changed(there == null ? "ADDED" : "MODIFIED", target, object);
  }

  private static String now() {
    return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
  }

  private ObjectNode changed(String type, Target target, ObjectNode object) {
    if (type.equals("DELETED")) {
      objects.getOrDefault(target.collection(), new HashMap<>()).remove(target.key());
    }
    String line = event(type, object);
    watches.getOrDefault(target.collection(), List.of()).forEach(watch -> watch.add(line));
    return object;
  }

  private static String event(String type, ObjectNode object) {
    ObjectNode event = JSON.createObjectNode().put("type", type);
    event.set("object", object);
    return event + "\n";
  }
}
