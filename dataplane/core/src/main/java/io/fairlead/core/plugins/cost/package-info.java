/**
 * What a request costs at an endpoint, in milliseconds, and what endpoints have proved to be:
 * {@code work-cost}.
 */
@NullMarked
package io.fairlead.core.plugins.cost;

import org.jspecify.annotations.NullMarked;
