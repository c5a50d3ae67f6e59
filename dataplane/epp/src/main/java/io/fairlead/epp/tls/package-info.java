/** TLS: certificates of the ports that are served, and whom to trust of the endpoints. */
@NullMarked
package io.fairlead.epp.tls;

import org.jspecify.annotations.NullMarked;
