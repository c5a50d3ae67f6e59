/** Seeded streams of requests: who asks what, and when. */
@NullMarked
package io.fairlead.lab.workload;

import org.jspecify.annotations.NullMarked;
