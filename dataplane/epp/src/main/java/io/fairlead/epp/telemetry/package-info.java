/** Metrics, health and the latency table. */
@NullMarked
package io.fairlead.epp.telemetry;

import org.jspecify.annotations.NullMarked;
