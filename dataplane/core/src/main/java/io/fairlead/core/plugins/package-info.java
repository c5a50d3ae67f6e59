/** The built-in plugins, one file each with their factory. */
@NullMarked
package io.fairlead.core.plugins;

import org.jspecify.annotations.NullMarked;
