/**
 * What pickers of a pool tell one another: one that has served tells one that starts who holds what
 * of prompts, and what servers have proved to be, so that its first picks are as good as those of
 * the others; from then on each tells the others what it sends.
 */
@NullMarked
package io.fairlead.core.handover;

import org.jspecify.annotations.NullMarked;
