/** What several plugins learn from requests that are over, each for itself. */
@NullMarked
package io.fairlead.core.plugins.learn;

import org.jspecify.annotations.NullMarked;
