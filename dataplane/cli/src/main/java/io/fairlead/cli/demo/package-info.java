/** fairlead demo: the whole thing in one process. */
@NullMarked
package io.fairlead.cli.demo;

import org.jspecify.annotations.NullMarked;
