/** Config documents, good and broken, and what they are compiled to. */
@NullMarked
package io.fairlead.core.scheduling;

import org.jspecify.annotations.NullMarked;
