/** How well pickers know what engines' caches hold, with what engines tell of them and without. */
@NullMarked
package io.fairlead.lab.cache;

import org.jspecify.annotations.NullMarked;
