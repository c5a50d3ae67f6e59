/** Where the end-to-end tests get a real Kubernetes cluster from. */
@NullMarked
package io.fairlead.e2e.cluster;

import org.jspecify.annotations.NullMarked;
