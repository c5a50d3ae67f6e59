/** What the operator says about pools, models and pickers; computed from values alone. */
@NullMarked
package io.fairlead.operator.status;

import org.jspecify.annotations.NullMarked;
