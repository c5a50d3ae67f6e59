/**
 * What was decided of requests and why: kept as it was worked out, in a ring, and put into words
 * when somebody asks. Decides nothing.
 */
@NullMarked
package io.fairlead.core.receipt;

import org.jspecify.annotations.NullMarked;
