/**
 * What the scheduler and its built-in plugins see of a pool beyond the plugin API: numbers of all
 * endpoints side by side, and which of them have changed.
 */
@NullMarked
package io.fairlead.core.view;

import org.jspecify.annotations.NullMarked;
