/** Makes the process quick before its first request: requests of its own through its own ports. */
@NullMarked
package io.fairlead.epp.warmup;

import org.jspecify.annotations.NullMarked;
