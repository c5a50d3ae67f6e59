/**
 * Reads the lab's documents strictly: what isn't known is refused, with its path and what helps.
 */
@NullMarked
package io.fairlead.lab.document;

import org.jspecify.annotations.NullMarked;
