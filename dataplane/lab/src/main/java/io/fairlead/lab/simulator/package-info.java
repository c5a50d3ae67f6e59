/** The production core in virtual time, against engine models: what a policy does to a workload. */
@NullMarked
package io.fairlead.lab.simulator;

import org.jspecify.annotations.NullMarked;
