/** Tests of the console and of who may see it. */
@NullMarked
package io.fairlead.epp.console;

import org.jspecify.annotations.NullMarked;
