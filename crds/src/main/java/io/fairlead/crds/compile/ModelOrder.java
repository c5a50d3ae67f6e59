package io.fairlead.crds.compile;

import io.fairlead.crds.v1alpha2.InferenceModel;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * Who owns a model name: the oldest; of equally old ones (a second is the finest grain) the first
 * name by bytes.
 */
final class ModelOrder {
  static final Comparator<InferenceModel> OLDEST_FIRST =
      Comparator.<InferenceModel, Instant>comparing(
              model -> created(model.getMetadata().getCreationTimestamp()))
          .thenComparing(
              model ->
                  String.valueOf(model.getMetadata().getName()).getBytes(StandardCharsets.UTF_8),
              Arrays::compareUnsigned);

  private ModelOrder() {}

  /** Without a time, as in a local file, an object is younger than any that has one. */
  private static Instant created(@Nullable String timestamp) {
    if (timestamp == null) {
      return Instant.MAX;
    }
    try {
      return OffsetDateTime.parse(timestamp).toInstant();
    } catch (DateTimeException e) {
      return Instant.MAX;
    }
  }
}
