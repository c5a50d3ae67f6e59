@NullMarked
package io.fairlead.lab.simulator;

import org.jspecify.annotations.NullMarked;
