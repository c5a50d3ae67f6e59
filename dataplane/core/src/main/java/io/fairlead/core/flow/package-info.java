/**
 * Who may go now: requests that find no room wait here, in bands by priority and in flows by
 * sender.
 */
@NullMarked
package io.fairlead.core.flow;

import org.jspecify.annotations.NullMarked;
