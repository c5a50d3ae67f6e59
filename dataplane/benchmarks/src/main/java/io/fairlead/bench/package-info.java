/** What a decision costs, measured. */
@NullMarked
package io.fairlead.bench;

import org.jspecify.annotations.NullMarked;
