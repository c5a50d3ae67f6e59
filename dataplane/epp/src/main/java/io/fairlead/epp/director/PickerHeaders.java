package io.fairlead.epp.director;

import java.util.Set;

/** Request headers that steer what stands in front of a model server: nobody else may set them. */
public final class PickerHeaders {

  /** Lower-case names of what a client may not hand over. */
  public static final Set<String> NOT_FROM_CLIENTS =
      Set.of(
          "x-prefiller-host-port",
          "x-encoder-hosts-ports",
          "x-data-parallel-host-port",
          "x-kv-cache-source-host-port");

  private PickerHeaders() {}
}
