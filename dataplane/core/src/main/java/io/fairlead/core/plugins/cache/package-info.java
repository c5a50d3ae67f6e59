/**
 * What endpoints hold already of what a request needs: the beginning of its prompt, its LoRA
 * adapter.
 */
@NullMarked
package io.fairlead.core.plugins.cache;

import org.jspecify.annotations.NullMarked;
