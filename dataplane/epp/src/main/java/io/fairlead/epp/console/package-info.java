/** A page that shows people what the picker does, and who may see it. */
@NullMarked
package io.fairlead.epp.console;

import org.jspecify.annotations.NullMarked;
