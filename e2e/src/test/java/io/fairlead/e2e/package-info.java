/** What a user does with Fairlead on a cluster, on real parts. */
@NullMarked
package io.fairlead.e2e;

import org.jspecify.annotations.NullMarked;
