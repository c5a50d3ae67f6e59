/** A real API server for the operator's tests, and what a controller manager would do on it. */
@NullMarked
package io.fairlead.operator.testing;

import org.jspecify.annotations.NullMarked;
