/**
 * What is there for upstream's documents alone: how they write settings, and types that nothing
 * else here needs.
 */
@NullMarked
package io.fairlead.core.plugins.compat;

import org.jspecify.annotations.NullMarked;
