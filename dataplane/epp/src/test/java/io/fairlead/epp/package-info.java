/** Tests of the data plane as a whole. */
@NullMarked
package io.fairlead.epp;

import org.jspecify.annotations.NullMarked;
