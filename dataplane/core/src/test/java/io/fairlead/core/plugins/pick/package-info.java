/** Tests of the package of the same name. */
@NullMarked
package io.fairlead.core.plugins.pick;

import org.jspecify.annotations.NullMarked;
