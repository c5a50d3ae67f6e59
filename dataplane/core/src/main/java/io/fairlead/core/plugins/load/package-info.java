/**
 * How busy endpoints are: scorers, filters and detectors by queues, requests in flight, the KV
 * cache and numbers that servers report.
 */
@NullMarked
package io.fairlead.core.plugins.load;

import org.jspecify.annotations.NullMarked;
