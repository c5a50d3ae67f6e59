package io.fairlead.core.handover;

import io.fairlead.core.EndpointSpec;
import java.util.List;

/**
 * What a picker has sent to an endpoint of late.
 *
 * @param startedAt when its process started, in seconds of Unix time; NaN where it doesn't tell
 * @param prompts what was sent last comes last
 */
public record SentPrompts(EndpointSpec endpoint, double startedAt, List<SentPrompt> prompts) {

  public SentPrompts {
    prompts = List.copyOf(prompts);
  }
}
