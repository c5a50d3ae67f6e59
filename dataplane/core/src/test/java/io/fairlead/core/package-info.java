/** The core driven event by event in virtual time. */
@NullMarked
package io.fairlead.core;

import org.jspecify.annotations.NullMarked;
