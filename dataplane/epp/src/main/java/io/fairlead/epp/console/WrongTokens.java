package io.fairlead.epp.console;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How often a wrong token has been shown lately, by each address and by all: who has tried too
 * often is not listened to until some time has passed. The right token is no try, and a session
 * that is open goes on whatever others try.
 *
 * <p>Each has a bucket of tries that fills again evenly. Addresses of one network of IPv6 (its
 * first 64 bits) are one client. Of addresses the {@link #MOST_ADDRESSES} that tried last are
 * remembered; who is forgotten is still bound by what all may try together.
 *
 * <p>Used by one thread.
 */
final class WrongTokens {

  /** Tries of one address in a row. */
  static final int MOST_OF_ONE = 10;

  /** Tries of all together in a row. */
  static final int MOST = 100;

  static final int MOST_ADDRESSES = 1_024;

  /** One address may try once more after so long; all together ten times as often. */
  static final long REFILL_NANOS = TimeUnit.SECONDS.toNanos(6);

  private static final int NETWORK_BYTES = 8;

  private final LongSupplier clock;
  private final Bucket all;
  private final Map<Object, Bucket> byAddress = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * Nobody has tried yet.
   *
   * @param clock monotonic, in nanoseconds
   */
  WrongTokens(LongSupplier clock) {
    this.clock = clock;
    all = new Bucket(MOST, REFILL_NANOS / 10, clock.getAsLong());
  }

  private static final class Bucket {

    private final int most;
    private final long refillNanos;

    /** When it will be full again; in the past where it is. */
    private long fullAt;

    Bucket(int most, long refillNanos, long now) {
      this.most = most;
      this.refillNanos = refillNanos;
      fullAt = now;
    }

    /** How long until a try is in it. */
    long nanosToWait(long now) {
      return Math.max(0, fullAt - now - (most - 1) * refillNanos);
    }

    void take(long now) {
      fullAt = (fullAt - now > 0 ? fullAt : now) + refillNanos;
    }
  }

  /** After how many seconds this client may try; 0 for now. */
  long secondsToWait(@Nullable SocketAddress client) {
    long now = clock.getAsLong();
    Bucket own = byAddress.get(key(client));
    long wait = Math.max(all.nanosToWait(now), own == null ? 0 : own.nanosToWait(now));
    return Math.ceilDiv(wait, TimeUnit.SECONDS.toNanos(1));
  }

  /** It has shown a wrong one. */
  void count(@Nullable SocketAddress client) {
    long now = clock.getAsLong();
    all.take(now);
    byAddress
        .computeIfAbsent(key(client), address -> new Bucket(MOST_OF_ONE, REFILL_NANOS, now))
        .take(now);
    if (byAddress.size() > MOST_ADDRESSES) {
      Iterator<Object> eldest = byAddress.keySet().iterator();
      eldest.next();
      eldest.remove();
    }
  }

  /** How many addresses are remembered. */
  int addresses() {
    return byAddress.size();
  }

  private static Object key(@Nullable SocketAddress client) {
    InetAddress address = client instanceof InetSocketAddress inet ? inet.getAddress() : null;
    if (address == null) {
      return "";
    }
    byte[] bytes = address.getAddress();
    return ByteBuffer.wrap(
        address instanceof Inet6Address ? Arrays.copyOf(bytes, NETWORK_BYTES) : bytes);
  }
}
