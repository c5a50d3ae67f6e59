/**
 * What the scheduler and its built-in plugins see of a pool beyond the plugin API: numbers of all
 * endpoints side by side, which of them have changed, and what plugins note for one another.
 */
@NullMarked
package io.fairlead.core.view;

import org.jspecify.annotations.NullMarked;
