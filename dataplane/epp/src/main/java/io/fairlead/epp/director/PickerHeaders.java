package io.fairlead.epp.director;

import io.fairlead.core.FlowHeaders;
import java.util.List;

/**
 * Request headers that steer the picker, or what stands in front of a model server: none of a
 * client's reaches a model server.
 */
public final class PickerHeaders {

  /** Lower-case names of what is not handed over from a client. */
  public static final List<String> NOT_FROM_CLIENTS =
      List.of(
          "x-prefiller-host-port",
          "x-encoder-hosts-ports",
          "x-data-parallel-host-port",
          "x-kv-cache-source-host-port",
          TimeoutHeaders.FIRST_BYTE,
          TimeoutHeaders.SILENCE,
          TimeoutHeaders.TOTAL,
          FlowHeaders.TTL,
          FlowHeaders.EXPLAIN,
          HeaderTrust.SECRET);

  private PickerHeaders() {}
}
