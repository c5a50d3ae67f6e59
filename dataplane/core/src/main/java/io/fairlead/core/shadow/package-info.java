/**
 * Schedulings that are tried beside the one in force: each decides on the same requests on a core
 * of its own, with an imagined account, and is compared with what was really done.
 */
@NullMarked
package io.fairlead.core.shadow;

import org.jspecify.annotations.NullMarked;
