/** Tests of the package of the same name. */
@NullMarked
package io.fairlead.core.plugins.session;

import org.jspecify.annotations.NullMarked;
