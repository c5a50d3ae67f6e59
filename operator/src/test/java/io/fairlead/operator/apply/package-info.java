/** What writes, without an API server. */
@NullMarked
package io.fairlead.operator.apply;

import org.jspecify.annotations.NullMarked;
