/**
 * Decides again what a receipt holds: under the same config, which gives the same pick each time,
 * or under another one. What can't be known from a receipt is named and not guessed.
 */
@NullMarked
package io.fairlead.core.replay;

import org.jspecify.annotations.NullMarked;
