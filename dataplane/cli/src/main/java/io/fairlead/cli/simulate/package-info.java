/** The simulator on the command line. */
@NullMarked
package io.fairlead.cli.simulate;

import org.jspecify.annotations.NullMarked;
