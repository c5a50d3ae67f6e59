package io.fairlead.crds.testing;

import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Has an API server refuse lists of a kind, as one that starts does of kinds that are there: what
 * is asked for is a kind that is not there. With rights to all kinds of the group that is a 404,
 * with rights to those that are there alone a 403.
 *
 * <p>A watch that begins meanwhile does so from a version that is too old, so that all is listed
 * again: cut the connections once lists are to be refused.
 */
public final class RefusedLists implements Interceptor {
  private final String group;
  private final String plural;
  private final AtomicInteger left = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();

  /** Refuses none yet. */
  public RefusedLists(String group, String plural) {
    this.group = group;
    this.plural = "/" + plural;
  }

  /** Refuses the next lists, so many of them. */
  public void refuse(int lists) {
    left.set(lists);
  }

  /** Lists refused since the start. */
  public int refused() {
    return refused.get();
  }

  @Override
  public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
    String uri = request.uri().toString();
    if (left.get() == 0 || !uri.contains(group) || !uri.contains(plural)) {
      return;
    }
    if (uri.contains("watch=")) {
      builder.uri(URI.create(uri.replaceAll("resourceVersion=[0-9]+", "resourceVersion=1")));
    } else if (left.getAndUpdate(now -> Math.max(now - 1, 0)) > 0) {
      refused.incrementAndGet();
      builder.uri(URI.create(uri.replace(plural, "/nothings")));
    }
  }
}
