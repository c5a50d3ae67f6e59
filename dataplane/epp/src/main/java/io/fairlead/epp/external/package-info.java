/**
 * Asks a scheduler outside of the process where requests go, over gRPC. Nothing waits for it longer
 * than its config says, and nothing at all once it has failed for a while.
 */
@NullMarked
package io.fairlead.epp.external;

import org.jspecify.annotations.NullMarked;
