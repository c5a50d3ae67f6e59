/** In which order requests go that wait for room, and how full endpoints may be for them. */
@NullMarked
package io.fairlead.core.plugins.flow;

import org.jspecify.annotations.NullMarked;
