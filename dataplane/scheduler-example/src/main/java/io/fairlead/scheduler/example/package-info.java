/** An external scheduler in Java, to begin one's own from. */
@NullMarked
package io.fairlead.scheduler.example;

import org.jspecify.annotations.NullMarked;
