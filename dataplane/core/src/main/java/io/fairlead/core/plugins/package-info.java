/**
 * The built-in plugins: one file each with their factory, and a package for those of one idea. Such
 * a package sees no other but {@code compat}, and of the core {@code core.view} alone.
 */
@NullMarked
package io.fairlead.core.plugins;

import org.jspecify.annotations.NullMarked;
