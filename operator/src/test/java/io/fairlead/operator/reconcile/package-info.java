/** What controllers decide, without an API server. */
@NullMarked
package io.fairlead.operator.reconcile;

import org.jspecify.annotations.NullMarked;
