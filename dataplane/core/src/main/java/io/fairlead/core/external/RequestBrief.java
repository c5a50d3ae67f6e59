package io.fairlead.core.external;

import io.fairlead.crds.config.Criticality;

/**
 * What a scheduler outside of the process is told of a request beside what its client said.
 *
 * @param targetModel the name that the server will be asked for
 * @param promptTokens size of the prompt, as estimated
 * @param criticality how it fares when the pool is short of capacity
 * @param priority the same as a number: the larger, the more important
 * @param holders endpoints believed to hold a beginning of the prompt, by {@link Advice#identity}
 * @param cachedTokens how many tokens of it, in the same order; never 0
 * @param allowed endpoints that its gateway lets it go to, where that has narrowed them; empty for
 *     all
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, not compared
public record RequestBrief(
    String targetModel,
    int promptTokens,
    Criticality criticality,
    long priority,
    long[] holders,
    int[] cachedTokens,
    long[] allowed) {}
