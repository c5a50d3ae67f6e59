/** Traces of requests, sent over OTLP: from who asked, through the picker, to the model server. */
@NullMarked
package io.fairlead.epp.tracing;

import org.jspecify.annotations.NullMarked;
