/** What was sent and is not over, and what is known of it: how many tokens it has. */
@NullMarked
package io.fairlead.core.account;

import org.jspecify.annotations.NullMarked;
