package io.fairlead.core.handover;

import io.fairlead.core.EndpointSpec;
import java.util.List;

/**
 * What a picker has sent to an endpoint of late.
 *
 * @param startedAt when its process started, in seconds of Unix time; NaN where it doesn't tell
 * @param requests what was sent last comes last
 */
public record SentRequests(EndpointSpec endpoint, double startedAt, List<SentRequest> requests) {

  public SentRequests {
    requests = List.copyOf(requests);
  }
}
