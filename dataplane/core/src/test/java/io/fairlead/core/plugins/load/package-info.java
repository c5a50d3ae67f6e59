/** Tests of the package of the same name. */
@NullMarked
package io.fairlead.core.plugins.load;

import org.jspecify.annotations.NullMarked;
