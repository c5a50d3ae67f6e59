/** Watching kinds that a cluster may have or not. */
@NullMarked
package io.fairlead.crds.watch;

import org.jspecify.annotations.NullMarked;
