/** Tests of what makes a process quick before it is ready. */
@NullMarked
package io.fairlead.epp.warmup;

import org.jspecify.annotations.NullMarked;
