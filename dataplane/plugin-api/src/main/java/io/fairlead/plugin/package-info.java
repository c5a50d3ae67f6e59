/** What a plugin author compiles against. */
@NullMarked
package io.fairlead.plugin;

import org.jspecify.annotations.NullMarked;
