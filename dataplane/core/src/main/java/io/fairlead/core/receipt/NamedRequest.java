package io.fairlead.core.receipt;

/**
 * One of the requests of a name: a client or a proxy that sends again may call several alike.
 *
 * @param nth of them, from 1 for the newest
 * @param of how many are kept
 */
public record NamedRequest(KeptRequest request, int nth, int of) {}
