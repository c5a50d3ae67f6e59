/** The data plane as a whole: its parts put together, started and drained. */
@NullMarked
package io.fairlead.epp;

import org.jspecify.annotations.NullMarked;
