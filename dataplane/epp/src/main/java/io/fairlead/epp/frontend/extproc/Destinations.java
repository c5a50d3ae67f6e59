package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import org.jspecify.annotations.Nullable;

/**
 * How proxies are told where requests go: the same for each request to an endpoint, and the larger
 * part of the answer, so it is made once and kept as long as no other takes its place.
 *
 * <p>Threads may share it: what is kept never changes, and one that sees none makes it again.
 */
final class Destinations {

  /**
   * Name of the chosen endpoints, best first, as a request header and in the metadata of {@link
   * #NAMESPACE}.
   */
  static final String NAME = "x-gateway-destination-endpoint";

  private static final String NAMESPACE = "envoy.lb";

  /** A power of two: some times as many as a large pool has endpoints. */
  private static final int PLACES = 4096;

  private final @Nullable Destination[] kept = new Destination[PLACES];

  /**
   * The chosen endpoints.
   *
   * @param names {@code ip:port}, best first, with commas
   * @param header says it to the model server's cluster
   * @param metadata says it to load balancing policies
   */
  record Destination(String names, HeaderValueOption header, Struct metadata) {}

  Destination of(String names) {
    int hash = names.hashCode();
    int place = (hash ^ hash >>> 16) & (PLACES - 1);
    Destination known = kept[place];
    if (known == null || !known.names.equals(names)) {
      known = new Destination(names, Answers.set(NAME, names), metadata(names));
      kept[place] = known;
    }
    return known;
  }

  private static Struct metadata(String names) {
    Struct balancing =
        Struct.newBuilder()
            .putFields(NAME, Value.newBuilder().setStringValue(names).build())
            .build();
    return Struct.newBuilder()
        .putFields(NAMESPACE, Value.newBuilder().setStructValue(balancing).build())
        .build();
  }
}
