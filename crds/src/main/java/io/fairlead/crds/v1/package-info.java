/** Upstream's InferencePool of {@code inference.networking.k8s.io/v1} as it is on the wire. */
@NullMarked
package io.fairlead.crds.v1;

import org.jspecify.annotations.NullMarked;
