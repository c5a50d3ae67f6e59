/** Tests of metrics and health. */
@NullMarked
package io.fairlead.epp.telemetry;

import org.jspecify.annotations.NullMarked;
