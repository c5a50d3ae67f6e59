package io.fairlead.core.receipt;

import io.fairlead.core.EndpointSpec;
import io.fairlead.crds.config.Criticality;
import java.util.List;
import java.util.Map;

/**
 * How a request was sent, or that it was not, as {@link Receipt} writes it.
 *
 * @param at when, in nanoseconds of the pool's clock
 * @param runs words of the decision that tell of its runs; the rest tells who were the candidates,
 *     and what was known of them
 * @param candidates how many
 * @param primary number of the run whose pick got it
 * @param prefill the candidate that computes the prompt for it; -1 where it does that itself
 * @param endpoint that got it; without a name where none did
 * @param expectedFirstToken milliseconds until the first token; NaN where no scorer expects any
 * @param promptTokens as estimated
 * @param priority of its band; 0 where nobody ever waits
 * @param target model name that it was sent with
 * @param flow that it was charged to; empty where nobody ever waits
 */
record Sending(
    DecisionContext context,
    long at,
    int runs,
    int candidates,
    int primary,
    int prefill,
    EndpointSpec endpoint,
    double expectedFirstToken,
    int promptTokens,
    Criticality criticality,
    long priority,
    String target,
    String flow) {

  private static final EndpointSpec NONE = new EndpointSpec("", "", "", 0, Map.of());

  static final List<Criticality> CRITICALITIES = List.of(Criticality.values());

  static Sending read(DecisionContext context, Words words) {
    long at = words.next();
    long sizes = words.next();
    long picks = words.next();
    int picked = Words.low(words.next());
    double expected = words.number();
    long prompt = words.next();
    return new Sending(
        context,
        at,
        Words.high(sizes),
        Words.low(sizes),
        Words.high(picks),
        Words.low(picks),
        picked < 0 ? NONE : context.pool()[picked],
        expected,
        Words.high(prompt),
        CRITICALITIES.get(Words.low(prompt)),
        words.next(),
        words.text(),
        words.text());
  }
}
