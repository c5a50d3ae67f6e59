/** Which sockets everything here runs on. */
@NullMarked
package io.fairlead.epp.transport;

import org.jspecify.annotations.NullMarked;
