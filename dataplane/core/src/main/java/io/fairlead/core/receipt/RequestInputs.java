package io.fairlead.core.receipt;

import io.fairlead.crds.config.Criticality;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a request told those who decided on it. Nothing of its prompt, and no hash of one: whoever
 * had that could test guesses.
 *
 * @param model as asked for
 * @param targetModel as sent
 * @param promptTokens as estimated
 * @param blocks of its prompt that the index may know
 * @param maxOutputTokens the request's own limit, or -1; 0 where no answer has tokens
 * @param criticality that it counts with
 * @param seed its random bits: every draw follows from them
 * @param replicas pickers that shared the pool
 * @param headers those that somebody asked for, with null for one that it had not; no other is kept
 */
public record RequestInputs(
    String model,
    String targetModel,
    int promptTokens,
    int blocks,
    int maxOutputTokens,
    Criticality criticality,
    long seed,
    int replicas,
    Map<String, @Nullable String> headers) {

  public RequestInputs {
    headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
  }
}
