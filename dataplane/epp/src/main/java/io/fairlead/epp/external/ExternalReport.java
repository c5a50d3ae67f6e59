package io.fairlead.epp.external;

import org.jspecify.annotations.Nullable;

/**
 * How an external scheduler does, for people and metrics.
 *
 * @param counts what came of asking it, since the process began
 * @param problem why requests don't wait for it now; null while they do
 */
public record ExternalReport(ExternalCounts counts, @Nullable String problem) {}
