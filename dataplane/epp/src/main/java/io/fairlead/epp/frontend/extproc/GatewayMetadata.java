package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import io.fairlead.core.Subset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads what a gateway says of endpoints in the metadata that it sends along. */
final class GatewayMetadata {

  private static final String SUBSET_NAMESPACE = "envoy.lb.subset_hint";
  private static final String SUBSET = "x-gateway-destination-endpoint-subset";
  private static final String NAMESPACE = "envoy.lb";
  private static final String SERVED = "x-gateway-destination-endpoint-served";

  private GatewayMetadata() {}

  /**
   * The endpoints that a request may go to, or null for all: a list of texts, or one text with
   * commas. A hint that is there but makes no sense allows none: a request must not go where its
   * gateway may have forbidden it.
   */
  static @Nullable Subset subset(Metadata ofRequest) {
    Value value = value(ofRequest, SUBSET_NAMESPACE, SUBSET);
    if (value == null) {
      return null;
    }
    List<String> entries = new ArrayList<>();
    if (value.hasListValue()) {
      value.getListValue().getValuesList().forEach(entry -> entries.add(entry.getStringValue()));
    } else {
      entries.addAll(Arrays.asList(value.getStringValue().split(",", -1)));
    }
    return new Subset(entries);
  }

  /**
   * The endpoint that answers, as {@code ip:port}: the gateway may have gone on to a fallback, or
   * to another that it knows, by itself. Null where it doesn't say.
   */
  static @Nullable String served(Metadata ofResponse) {
    Value value = value(ofResponse, NAMESPACE, SERVED);
    return value == null || value.getStringValue().isEmpty() ? null : value.getStringValue();
  }

  private static @Nullable Value value(Metadata metadata, String namespace, String key) {
    Struct all = metadata.getFilterMetadataMap().get(namespace);
    return all == null ? null : all.getFieldsMap().get(key);
  }
}
