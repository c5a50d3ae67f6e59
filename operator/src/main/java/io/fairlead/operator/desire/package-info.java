/** From what was observed to the config and the judgement of every model; pure. */
@NullMarked
package io.fairlead.operator.desire;

import org.jspecify.annotations.NullMarked;
