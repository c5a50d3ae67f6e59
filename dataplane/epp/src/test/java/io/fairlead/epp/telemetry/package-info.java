/** What is counted and how it is shown. */
@NullMarked
package io.fairlead.epp.telemetry;

import org.jspecify.annotations.NullMarked;
