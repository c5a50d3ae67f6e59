/**
 * A picker that starts asks one that serves what it knows, so that its first picks find caches:
 * bounded in time and bytes, authenticated, and optional; whatever goes wrong, it starts cold.
 */
@NullMarked
package io.fairlead.epp.handover;

import org.jspecify.annotations.NullMarked;
