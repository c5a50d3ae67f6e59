/** HTTP on plain sockets, for tests that must see every byte and every close. */
@NullMarked
package io.fairlead.epp.sockets;

import org.jspecify.annotations.NullMarked;
