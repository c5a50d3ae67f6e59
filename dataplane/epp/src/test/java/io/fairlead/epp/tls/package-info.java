/** Tests of certificates and keys. */
@NullMarked
package io.fairlead.epp.tls;

import org.jspecify.annotations.NullMarked;
