/** The frontend for proxies that speak Envoy's external processing protocol, and its health. */
@NullMarked
package io.fairlead.epp.frontend.extproc;

import org.jspecify.annotations.NullMarked;
