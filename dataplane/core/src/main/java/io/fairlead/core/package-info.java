/** The deterministic core: events in, effects out; no thread, no clock, no I/O. */
@NullMarked
package io.fairlead.core;

import org.jspecify.annotations.NullMarked;
