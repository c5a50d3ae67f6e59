/**
 * Listens to what engines tell of their KV caches over ZeroMQ, and tells the pool's core. Bytes
 * from outside are read here, on a thread of its own; what they mean for the index is said in
 * {@code core.prefix}.
 */
@NullMarked
package io.fairlead.epp.kvevents;

import org.jspecify.annotations.NullMarked;
