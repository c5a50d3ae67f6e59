/** Tests of traces, on collectors that speak OTLP. */
@NullMarked
package io.fairlead.epp.tracing;

import org.jspecify.annotations.NullMarked;
