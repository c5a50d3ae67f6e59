/** What the production scheduler is compared with, as plugins of it. */
@NullMarked
package io.fairlead.lab.simulator.plugins;

import org.jspecify.annotations.NullMarked;
