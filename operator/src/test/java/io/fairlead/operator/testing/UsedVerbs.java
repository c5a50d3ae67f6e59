package io.fairlead.operator.testing;

import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * Notes what a client asks of the API server in the words of a role: {@code verb resource.group}.
 */
public final class UsedVerbs implements Interceptor {
  private final Set<String> used = new ConcurrentSkipListSet<>();

  /** What was asked so far. */
  public Set<String> used() {
    return Set.copyOf(used);
  }

  /** An entry as this class notes it. */
  public static String entry(String verb, String group, String resource) {
    return verb + " " + (group.isEmpty() ? resource : resource + "." + group);
  }

  @Override
  public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
    note(request.method(), request.uri(), false);
  }

  @Override
  public void after(
      HttpRequest request,
      HttpResponse<?> response,
      AsyncBody.Consumer<List<ByteBuffer>> consumer) {
    // An apply that makes the object needs the verb create, too.
    note(request.method(), request.uri(), response.code() == HttpURLConnection.HTTP_CREATED);
  }

  private void note(String method, URI uri, boolean created) {
    String[] parts = uri.getPath().substring(1).split("/", -1);
    boolean core = parts[0].equals("api");
    int resource = core ? 2 : 3;
    if (parts.length > resource && parts[resource].equals("namespaces")) {
      resource += 2;
    }
    if (parts.length <= resource) {
      return;
    }
    String group = core ? "" : parts[1];
    boolean named = parts.length > resource + 1;
    String name =
        parts.length > resource + 2 ? parts[resource] + "/" + parts[resource + 2] : parts[resource];
    used.add(entry(verb(method, named, uri), group, name));
    if (created) {
      used.add(entry("create", group, name));
    }
  }

  private static String verb(String method, boolean named, URI uri) {
    return switch (method) {
      case "POST" -> "create";
      case "PUT" -> "update";
      case "PATCH" -> "patch";
      case "DELETE" -> "delete";
      default -> {
        String query = String.valueOf(uri.getQuery());
        yield named ? "get" : query.contains("watch=true") ? "watch" : "list";
      }
    };
  }
}
