/** Tables of conditions. */
@NullMarked
package io.fairlead.operator.status;

import org.jspecify.annotations.NullMarked;
