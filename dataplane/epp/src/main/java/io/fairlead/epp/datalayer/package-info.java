/** Which endpoints there are and what their metrics say. */
@NullMarked
package io.fairlead.epp.datalayer;

import org.jspecify.annotations.NullMarked;
