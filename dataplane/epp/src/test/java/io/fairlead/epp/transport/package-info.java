/** Tests of sockets and their loops. */
@NullMarked
package io.fairlead.epp.transport;

import org.jspecify.annotations.NullMarked;
