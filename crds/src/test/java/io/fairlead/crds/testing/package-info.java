/** Fixtures for tests on a real API server. */
@NullMarked
package io.fairlead.crds.testing;

import org.jspecify.annotations.NullMarked;
