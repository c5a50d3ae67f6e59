/** The life of a request in flight, between a frontend and the pool's core. */
@NullMarked
package io.fairlead.epp.director;

import org.jspecify.annotations.NullMarked;
