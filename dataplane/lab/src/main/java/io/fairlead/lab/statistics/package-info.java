/** What the lab makes of a few numbers: one formula of each for reports, verdicts and trials. */
@NullMarked
package io.fairlead.lab.statistics;

import org.jspecify.annotations.NullMarked;
