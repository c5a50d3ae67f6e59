@NullMarked
package io.fairlead.epp.memory;

import org.jspecify.annotations.NullMarked;
