package io.fairlead.core.scheduling;

/**
 * A scheduling that is tried beside the one in force, ready to be applied to a core of its own.
 *
 * @param name unique in the pool
 * @param config the pool as the shadow sees it: nobody waits and nothing is kept of decisions,
 *     since it is asked when a request has been sent
 */
public record CompiledShadow(String name, CompiledConfig config) {}
