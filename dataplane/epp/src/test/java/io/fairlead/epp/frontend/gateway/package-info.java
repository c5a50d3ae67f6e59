/** Tests of the HTTP gateway on real sockets. */
@NullMarked
package io.fairlead.epp.frontend.gateway;

import org.jspecify.annotations.NullMarked;
