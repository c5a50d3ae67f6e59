/** Writes down what a pool's core is told and what it decides: sizes, hashes and names, no text. */
@NullMarked
package io.fairlead.epp.capture;

import org.jspecify.annotations.NullMarked;
