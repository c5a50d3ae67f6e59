/** Prompt block hashes and who is believed to hold which in its KV cache. */
@NullMarked
package io.fairlead.core.prefix;

import org.jspecify.annotations.NullMarked;
