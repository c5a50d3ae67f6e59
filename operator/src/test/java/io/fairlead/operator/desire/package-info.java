/** What resources amount to, in conditions. */
@NullMarked
package io.fairlead.operator.desire;

import org.jspecify.annotations.NullMarked;
