/** Each built-in plugin by itself. */
@NullMarked
package io.fairlead.core.plugins;

import org.jspecify.annotations.NullMarked;
