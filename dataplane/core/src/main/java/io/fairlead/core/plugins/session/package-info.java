/** Sessions: requests that go where the ones before them went. */
@NullMarked
package io.fairlead.core.plugins.session;

import org.jspecify.annotations.NullMarked;
