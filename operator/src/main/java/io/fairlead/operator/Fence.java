package io.fairlead.operator;

import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fairlead.operator.apply.NotLeadingException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Lets a process write only while it is sure to lead. One that was frozen, or that the API server
 * did not hear for long, goes on with what it knew then; until it learns that another leads, what
 * it writes would undo that one's work.
 */
final class Fence implements Interceptor {
  /** Of the groups that have them: a namespace or an object may have such a name, too. */
  private static final Pattern HARMLESS =
      Pattern.compile(
          "^/apis/(coordination\\.k8s\\.io/[^/]+/namespaces/[^/]+/leases(/|$)"
              + "|authentication\\.k8s\\.io/[^/]+/tokenreviews$"
              + "|authorization\\.k8s\\.io/[^/]+/subjectaccessreviews$)");

  /** What the paths of all requests begin with; empty where the API server has a host's root. */
  private final String prefix;

  private final LongSupplier nanos;
  private final InstantSource clock;
  private final Duration term;
  private volatile @Nullable Moment renewed;
  private volatile boolean given;

  /**
   * By both clocks: one may stand still while the machine sleeps or is paused, in which another
   * process may come to lead; the other one may be set back.
   */
  record Moment(long nanos, Instant time) {}

  /**
   * Lets nobody write yet.
   *
   * @param server address of the API server, which a proxy may have put below a path
   * @param term how long after a renewal nobody else can lead
   * @param nanos {@link System#nanoTime}, or a test's
   * @param clock the machine's, or a test's
   */
  Fence(URI server, Duration term, LongSupplier nanos, InstantSource clock) {
    prefix = String.valueOf(server.getPath()).replaceFirst("/+$", "");
    this.term = term;
    this.nanos = nanos;
    this.clock = clock;
  }

  /** For {@link #renewed}. */
  Moment now() {
    return new Moment(nanos.getAsLong(), clock.instant());
  }

  /**
   * The Lease was renewed.
   *
   * @param at when the request was sent
   */
  void renewed(Moment at) {
    renewed = at;
  }

  /** The Lease is about to be given back, for good: another may lead as soon as it is. */
  void given() {
    given = true;
  }

  private boolean holds() {
    Moment at = renewed;
    Moment now = now();
    return at != null
        && !given
        && now.nanos() - at.nanos() < term.toNanos()
        && Duration.between(at.time(), now.time()).compareTo(term) < 0;
  }

  @Override
  public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
    // Reading harms nobody, and the Lease is what the election is held by. A standby, too, asks who
    // may see its metrics.
    String path = request.uri().getPath();
    if (!request.method().equals("GET") && !isHarmless(path) && !holds()) {
      throw new NotLeadingException(
          "%s %s is not sent: whether this process still leads is not known"
              .formatted(request.method(), path));
    }
  }

  private boolean isHarmless(String path) {
    return path.startsWith(prefix) && HARMLESS.matcher(path.substring(prefix.length())).find();
  }
}
