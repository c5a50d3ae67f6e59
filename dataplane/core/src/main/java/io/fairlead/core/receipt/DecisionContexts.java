package io.fairlead.core.receipt;

import io.fairlead.core.EndpointSpec;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.ShadowConfig;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The contexts of decisions that are kept, in the order in which they were made. A context's number
 * is that of those made before it: receipts keep numbers alone, so that old configs and lists of
 * endpoints can be given up without a look at each receipt. The oldest are given up where nobody
 * needs them, and where they take too much memory. Owned by the pool's loop.
 */
final class DecisionContexts {

  /** That each takes itself, about. */
  private static final int CONTEXT_BYTES = 64;

  /** Of an endpoint's spec without its texts, of a label, and of any text, about. */
  private static final int SPEC_BYTES = 80;

  private static final int LABEL_BYTES = 8;
  private static final int TEXT_BYTES = 48;

  /**
   * Of a config without its lists, of a model or an objective in it, of a plugin without its
   * parameters, and of a number or a member in these, about.
   */
  private static final int CONFIG_BYTES = 2_048;

  private static final int MODEL_BYTES = 512;
  private static final int PLUGIN_BYTES = 1_024;
  private static final int VALUE_BYTES = 24;

  private final long maxBytes;

  /** By number, modulo their length, which is a power of two. */
  private @Nullable DecisionContext[] contexts = new @Nullable DecisionContext[16];

  /** Bytes that are free once one is given up, when those before it are; 0 of the newest. */
  private long[] sizes = new long[contexts.length];

  private long first;
  private long end;
  private long bytes;

  /**
   * None yet.
   *
   * @param maxBytes that they may take together; the newest stays in any case, since what it has is
   *     in use
   */
  DecisionContexts(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** The last that was added; null where there is none. */
  @Nullable DecisionContext newest() {
    return first == end ? null : contexts[place(end - 1)];
  }

  /** No decision from now on is of one with a smaller number. */
  long current() {
    return Math.max(first, end - 1);
  }

  /** Whether those with this number and larger ones are there, or still to be made. */
  boolean holds(long number) {
    return number >= first;
  }

  /** One that is {@link #holds held}. */
  DecisionContext get(long number) {
    DecisionContext context = holds(number) && number < end ? contexts[place(number)] : null;
    if (context == null) {
      throw new IllegalArgumentException("no context has number " + number);
    }
    return context;
  }

  private int place(long number) {
    return (int) number & (contexts.length - 1);
  }

  /** From now on it is the newest. */
  void add(DecisionContext context) {
    DecisionContext before = newest();
    if (before != null) {
      long more = lost(before, context);
      sizes[place(end - 1)] += more;
      bytes += more;
    }
    if (end - first == contexts.length) {
      grow();
    }
    contexts[place(end)] = context;
    sizes[place(end)] = 0;
    end++;
    while (bytes > maxBytes && end - first > 1) {
      giveUpOldest();
    }
  }

  /** Nobody needs one with a smaller number any more. */
  void release(long before) {
    while (first < Math.min(before, end)) {
      giveUpOldest();
    }
  }

  private void giveUpOldest() {
    int oldest = place(first++);
    bytes -= sizes[oldest];
    contexts[oldest] = null;
  }

  private void grow() {
    @Nullable DecisionContext[] more = new @Nullable DecisionContext[2 * contexts.length];
    long[] moreSizes = new long[more.length];
    for (long number = first; number < end; number++) {
      int to = (int) number & (more.length - 1);
      more[to] = contexts[place(number)];
      moreSizes[to] = sizes[place(number)];
    }
    contexts = more;
    sizes = moreSizes;
  }

  /** Bytes that they take beyond what is in use anyway, about. */
  long bytes() {
    return bytes;
  }

  /** Bytes of what one has that the next has not: from then on it is kept for receipts alone. */
  @SuppressWarnings("ReferenceEquality") // the same objects, or memory of their own
  private static long lost(DecisionContext before, DecisionContext next) {
    long lost = CONTEXT_BYTES;
    if (before.config() != next.config()) {
      lost += bytes(before.config());
    }
    if (before.pool() != next.pool()) {
      lost += (long) Integer.BYTES * before.pool().length;
      Set<EndpointSpec> stay = Collections.newSetFromMap(new IdentityHashMap<>(next.pool().length));
      stay.addAll(Arrays.asList(next.pool()));
      for (EndpointSpec spec : before.pool()) {
        lost += stay.contains(spec) ? 0 : bytes(spec);
      }
    }
    return lost;
  }

  private static long bytes(EndpointSpec spec) {
    long bytes = SPEC_BYTES + bytes(spec.name()) + bytes(spec.incarnation());
    bytes += bytes(spec.address());
    for (Map.Entry<String, String> label : spec.labels().entrySet()) {
      bytes += LABEL_BYTES + bytes(label.getKey()) + bytes(label.getValue());
    }
    return bytes;
  }

  private static long bytes(String text) {
    return (long) TEXT_BYTES + text.length();
  }

  private static long bytes(PoolConfig config) {
    long bytes = CONFIG_BYTES + bytes(config.scheduler());
    for (ShadowConfig shadow : config.shadows()) {
      bytes += bytes(shadow.scheduler());
    }
    return bytes + MODEL_BYTES * (long) (config.models().size() + config.objectives().size());
  }

  /** With the places in profiles, which are described in words. */
  private static long bytes(SchedulerConfig scheduler) {
    long places =
        scheduler.profiles().stream().mapToLong(profile -> 1 + profile.plugins().size()).sum();
    long bytes = PLUGIN_BYTES * (scheduler.plugins().size() + places);
    for (PluginConfig plugin : scheduler.plugins()) {
      bytes += parameterBytes(plugin.parameters());
    }
    return bytes;
  }

  private static long parameterBytes(@Nullable Object value) {
    return switch (value) {
      case String text -> bytes(text);
      case List<?> list -> list.stream().mapToLong(one -> VALUE_BYTES + parameterBytes(one)).sum();
      case Map<?, ?> map ->
          map.entrySet().stream()
              .mapToLong(
                  member ->
                      VALUE_BYTES
                          + parameterBytes(member.getKey())
                          + parameterBytes(member.getValue()))
              .sum();
      case null, default -> VALUE_BYTES;
    };
  }
}
