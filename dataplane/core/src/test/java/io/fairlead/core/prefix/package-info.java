/** The hasher and the index held against naive ones. */
@NullMarked
package io.fairlead.core.prefix;

import org.jspecify.annotations.NullMarked;
