/** Tests of captures. */
@NullMarked
package io.fairlead.epp.capture;

import org.jspecify.annotations.NullMarked;
