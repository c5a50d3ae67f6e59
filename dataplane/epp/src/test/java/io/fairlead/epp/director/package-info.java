/** Tests of a request's life between a frontend and the core. */
@NullMarked
package io.fairlead.epp.director;

import org.jspecify.annotations.NullMarked;
