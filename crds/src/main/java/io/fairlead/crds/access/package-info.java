/** Who may read what Fairlead's programs tell over HTTP. */
@NullMarked
package io.fairlead.crds.access;

import org.jspecify.annotations.NullMarked;
