/** The operator's process: command line, leadership, health, metrics, logs. */
@NullMarked
package io.fairlead.operator;

import org.jspecify.annotations.NullMarked;
