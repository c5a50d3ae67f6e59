/**
 * What a picker that has served tells one that starts, so that its first picks are as good as those
 * of the others: who holds what of prompts, and what servers have proved to be.
 */
@NullMarked
package io.fairlead.core.handover;

import org.jspecify.annotations.NullMarked;
