/** Fairlead's own resource: how a pool's endpoint picker is run and how it schedules. */
@NullMarked
package io.fairlead.crds.fairlead.v1alpha1;

import org.jspecify.annotations.NullMarked;
