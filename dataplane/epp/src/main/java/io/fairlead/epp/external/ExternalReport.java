package io.fairlead.epp.external;

import org.jspecify.annotations.Nullable;

/**
 * How an external scheduler does, for people and metrics.
 *
 * @param shadow which shadow asks it; null for the scheduling in force
 * @param counts what came of asking it, since the process began
 * @param problem why requests don't wait for it now, to be read after a colon; null while they do
 * @param late whether that is since it has been late again and again
 */
public record ExternalReport(
    @Nullable String shadow, ExternalCounts counts, @Nullable String problem, boolean late) {}
