/**
 * What a picker keeps on its disk to start from when the API server can't be reached: the config
 * and the endpoints that it had last. It stands in for a source that does not answer, and gives way
 * as soon as the source does.
 */
@NullMarked
package io.fairlead.epp.checkpoint;

import org.jspecify.annotations.NullMarked;
