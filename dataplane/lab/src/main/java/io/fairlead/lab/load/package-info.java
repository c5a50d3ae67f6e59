/** Sends a workload to a real server, open loop, and reports what came back, beside a baseline. */
@NullMarked
package io.fairlead.lab.load;

import org.jspecify.annotations.NullMarked;
