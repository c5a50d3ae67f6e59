/** Asks endpoints that get no requests whether they work again. */
@NullMarked
package io.fairlead.epp.probe;

import org.jspecify.annotations.NullMarked;
