/** Traces: what was asked of real servers and when, read into memory and replayed. */
@NullMarked
package io.fairlead.lab.trace;

import org.jspecify.annotations.NullMarked;
