package io.fairlead.core.view;

import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.EndpointAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Something that follows from what an endpoint's labels say, worked out once and not for each
 * request. Worked out anew when the slot's labels are another object than before, so it needs no
 * word of endpoints that come, go or are labelled anew.
 *
 * @param <K> what it follows from; immutable
 * @param <T> what follows
 */
public final class Memo<K, T> {

  private final Function<Endpoint, K> source;
  private final Function<K, T> rule;
  private final List<@Nullable Entry<K, T>> bySlot = new ArrayList<>();

  private record Entry<K, T>(K source, T result) {}

  private Memo(Function<Endpoint, K> source, Function<K, T> rule) {
    this.source = source;
    this.rule = rule;
  }

  /** Of what the labels say. */
  public static <T> Memo<Map<String, String>, T> ofLabels(Function<Map<String, String>, T> rule) {
    return new Memo<>(Endpoint::labels, rule);
  }

  /** Of what the attributes say. */
  public static <T> Memo<EndpointAttributes, T> ofAttributes(Function<EndpointAttributes, T> rule) {
    return new Memo<>(Endpoint::attributes, rule);
  }

  /** What follows for this endpoint. */
  // The same object says the same; comparing contents is what this class is there to avoid.
  @SuppressWarnings("ReferenceEquality")
  public T of(Endpoint endpoint) {
    int slot = PoolEndpoint.slot(endpoint);
    K current = source.apply(endpoint);
    Entry<K, T> entry = slot < bySlot.size() ? bySlot.get(slot) : null;
    if (entry == null || entry.source() != current) {
      entry = new Entry<>(current, rule.apply(current));
      while (bySlot.size() <= slot) {
        bySlot.add(null);
      }
      bySlot.set(slot, entry);
    }
    return entry.result();
  }
}
