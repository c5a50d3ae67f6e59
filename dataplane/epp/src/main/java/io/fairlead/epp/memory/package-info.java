/** The bytes that requests hold while they are in the process, and the bound on all of them. */
@NullMarked
package io.fairlead.epp.memory;

import org.jspecify.annotations.NullMarked;
