/** What the operator says of pools, models and pickers, as tables. */
@NullMarked
package io.fairlead.cli.status;

import org.jspecify.annotations.NullMarked;
