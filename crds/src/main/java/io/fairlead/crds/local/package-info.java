/**
 * Kubernetes resources from local files, judged as an API server with our CRDs would judge them.
 */
@NullMarked
package io.fairlead.crds.local;

import org.jspecify.annotations.NullMarked;
