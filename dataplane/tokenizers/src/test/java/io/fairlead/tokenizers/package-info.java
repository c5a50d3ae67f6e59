@NullMarked
package io.fairlead.tokenizers;

import org.jspecify.annotations.NullMarked;
