/** What the cluster holds for a pool, read from informers, and which pools are ours. */
@NullMarked
package io.fairlead.operator.observe;

import org.jspecify.annotations.NullMarked;
