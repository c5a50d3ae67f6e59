/** Faults of real servers under real load, in front of whatever picks: what its clients notice. */
@NullMarked
package io.fairlead.lab.faults;

import org.jspecify.annotations.NullMarked;
