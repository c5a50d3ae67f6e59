/**
 * Runs shadows beside a pool: each on a thread of its own, told of what the pool's core is told,
 * and switched off when it fails or doesn't keep up.
 */
@NullMarked
package io.fairlead.epp.shadow;

import org.jspecify.annotations.NullMarked;
