/** What controllers decide, without an API server. */
@NullMarked
package io.fairlead.operator.observe;

import org.jspecify.annotations.NullMarked;
