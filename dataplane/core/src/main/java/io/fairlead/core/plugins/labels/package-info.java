/** What is chosen by what endpoints' labels say. */
@NullMarked
package io.fairlead.core.plugins.labels;

import org.jspecify.annotations.NullMarked;
