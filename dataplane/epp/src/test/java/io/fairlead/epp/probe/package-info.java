/** Tests of probes. */
@NullMarked
package io.fairlead.epp.probe;

import org.jspecify.annotations.NullMarked;
