package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import io.fairlead.core.Subset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads which endpoints a gateway allows from the metadata that it sends along: a list of texts, or
 * one text with commas.
 */
final class SubsetHint {

  private static final String NAMESPACE = "envoy.lb.subset_hint";
  private static final String KEY = "x-gateway-destination-endpoint-subset";

  private SubsetHint() {}

  /**
   * The endpoints allowed, or null for all. A hint that is there but makes no sense allows none: a
   * request must not go where its gateway may have forbidden it.
   */
  static @Nullable Subset of(Metadata metadata) {
    Struct hint = metadata.getFilterMetadataMap().get(NAMESPACE);
    Value value = hint == null ? null : hint.getFieldsMap().get(KEY);
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
}
