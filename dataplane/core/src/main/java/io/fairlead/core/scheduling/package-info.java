/** Filter, score, pick: profiles of plugins, compiled from the config document. */
@NullMarked
package io.fairlead.core.scheduling;

import org.jspecify.annotations.NullMarked;
