@NullMarked
package io.fairlead.lab.peers;

import org.jspecify.annotations.NullMarked;
