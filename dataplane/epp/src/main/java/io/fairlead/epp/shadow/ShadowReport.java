package io.fairlead.epp.shadow;

import io.fairlead.core.shadow.ShadowSnapshot;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one shadow.
 *
 * @param off why it runs no more; null while it does
 * @param infersCaches whether its scheduling asks for what engines tell of their caches, which no
 *     shadow goes by: that is what the real choices have left there, and not its own
 * @param leftOut requests that are not told of, since it did not keep up, or would bring servers to
 *     a standstill, see {@link ShadowSnapshot#leftOut}
 * @param cpuSeconds that its thread has taken
 * @param told how it has done
 */
public record ShadowReport(
    String name,
    @Nullable String off,
    boolean infersCaches,
    long leftOut,
    double cpuSeconds,
    ShadowSnapshot told) {}
