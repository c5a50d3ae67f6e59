/**
 * One endpoint for the prompt and another for the answer: who does which, and when it is worth it.
 */
@NullMarked
package io.fairlead.core.plugins.disagg;

import org.jspecify.annotations.NullMarked;
