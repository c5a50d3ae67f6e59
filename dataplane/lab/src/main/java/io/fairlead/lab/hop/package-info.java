/** Measures what a hop costs, with servers, pickers and clients that themselves cost little. */
@NullMarked
package io.fairlead.lab.hop;

import org.jspecify.annotations.NullMarked;
