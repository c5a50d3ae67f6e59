/** The kinds of {@code inference.networking.x-k8s.io/v1alpha2} as they are on the wire. */
@NullMarked
package io.fairlead.crds.v1alpha2;

import org.jspecify.annotations.NullMarked;
