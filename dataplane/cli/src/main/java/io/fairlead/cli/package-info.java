/** The fairlead command. */
@NullMarked
package io.fairlead.cli;

import org.jspecify.annotations.NullMarked;
