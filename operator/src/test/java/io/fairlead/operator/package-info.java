/** The operator as a whole. */
@NullMarked
package io.fairlead.operator;

import org.jspecify.annotations.NullMarked;
