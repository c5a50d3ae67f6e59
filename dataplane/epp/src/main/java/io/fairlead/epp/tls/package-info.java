/** TLS of the ports that are served: certificates, their keys, and how long they last. */
@NullMarked
package io.fairlead.epp.tls;

import org.jspecify.annotations.NullMarked;
