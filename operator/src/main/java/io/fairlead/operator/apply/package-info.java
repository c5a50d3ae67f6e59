/** Writes to the API server: only what differs, one field manager per concern. */
@NullMarked
package io.fairlead.operator.apply;

import org.jspecify.annotations.NullMarked;
