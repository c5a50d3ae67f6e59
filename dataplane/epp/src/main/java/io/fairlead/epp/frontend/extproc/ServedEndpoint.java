package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import org.jspecify.annotations.Nullable;

/**
 * Reads which endpoint answers from the metadata that a gateway sends along with a response: it may
 * have gone on to one of the fallbacks, or to another that it knows, by itself.
 */
final class ServedEndpoint {

  private static final String NAMESPACE = "envoy.lb";
  private static final String KEY = "x-gateway-destination-endpoint-served";

  private ServedEndpoint() {}

  /** The endpoint as {@code ip:port}; null where the gateway doesn't say. */
  static @Nullable String of(Metadata metadata) {
    Struct of = metadata.getFilterMetadataMap().get(NAMESPACE);
    Value value = of == null ? null : of.getFieldsMap().get(KEY);
    return value == null || value.getStringValue().isEmpty() ? null : value.getStringValue();
  }
}
