/** Turns objects of one generation of the inference kinds into those of another. */
@NullMarked
package io.fairlead.crds.convert;

import org.jspecify.annotations.NullMarked;
