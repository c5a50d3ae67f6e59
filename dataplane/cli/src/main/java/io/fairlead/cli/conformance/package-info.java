/** Holds programs of others against what a picker expects of them. */
@NullMarked
package io.fairlead.cli.conformance;

import org.jspecify.annotations.NullMarked;
