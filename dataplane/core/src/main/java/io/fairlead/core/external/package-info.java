/** What a scheduler outside of the process is told, and what it answers. */
@NullMarked
package io.fairlead.core.external;

import org.jspecify.annotations.NullMarked;
