/** Children against golden files. */
@NullMarked
package io.fairlead.operator.children;

import org.jspecify.annotations.NullMarked;
