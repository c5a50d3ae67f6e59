/** Choosing among scored candidates, with one profile. */
@NullMarked
package io.fairlead.core.plugins.pick;

import org.jspecify.annotations.NullMarked;
