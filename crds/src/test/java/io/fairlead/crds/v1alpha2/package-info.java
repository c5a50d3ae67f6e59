/** Tests of how kinds of the older group are read and written. */
@NullMarked
package io.fairlead.crds.v1alpha2;

import org.jspecify.annotations.NullMarked;
