package io.fairlead.crds.watch;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;

/**
 * JSON of an API server, for clients that watch: one object that can't be read ends the watch of
 * all. A reader of JSON bounds what it takes from strangers; here the API server has done so, and
 * what it has stored must be read.
 */
public final class ApiJson {
  /** In levels: Go reads no deeper ones. Lists and events are some levels more. */
  private static final int DEEPEST = 10_100;

  /** In characters: more than a request may have. */
  private static final int LONGEST_NAME = 4 << 20;

  private ApiJson() {}

  /**
   * Reads whatever an API server stores; each client needs one of its own. Names of fields are not
   * kept for the next object, as is usual: of long ones that are ever new, some tens would fill the
   * memory of a process.
   */
  public static KubernetesSerialization serialization() {
    JsonFactory json =
        JsonFactory.builder()
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .streamReadConstraints(
                StreamReadConstraints.builder()
                    .maxNestingDepth(DEEPEST)
                    .maxNameLength(LONGEST_NAME)
                    .build())
            .build();
    return new KubernetesSerialization(new ObjectMapper(json), true);
  }
}
