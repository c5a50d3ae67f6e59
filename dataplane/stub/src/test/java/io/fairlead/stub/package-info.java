/** Rules that hold for the whole module. */
@NullMarked
package io.fairlead.stub;

import org.jspecify.annotations.NullMarked;
