/** Who answers: evidence, probes, deadlines, and the budget for sending again. */
@NullMarked
package io.fairlead.core.health;

import org.jspecify.annotations.NullMarked;
