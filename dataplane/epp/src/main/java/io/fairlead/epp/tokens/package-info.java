/**
 * Has prompts cut into tokens by their models' own tokenizers, beside the loops of requests and
 * within a bounded time.
 */
@NullMarked
package io.fairlead.epp.tokens;

import org.jspecify.annotations.NullMarked;
