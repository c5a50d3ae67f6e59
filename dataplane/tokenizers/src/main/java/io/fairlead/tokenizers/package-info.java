/**
 * Models' own tokenizers, of Hugging Face's kind: a plug-in of the picker, since it brings native
 * code and a template engine that a picker without exact caches has no use for.
 */
@NullMarked
package io.fairlead.tokenizers;

import org.jspecify.annotations.NullMarked;
