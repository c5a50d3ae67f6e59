/** Certificates and keys as files and Secrets hold them. */
@NullMarked
package io.fairlead.crds.tls;

import org.jspecify.annotations.NullMarked;
