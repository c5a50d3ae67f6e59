/** A model server's engine as a pure function of events and virtual time. */
@NullMarked
package io.fairlead.stub.engine;

import org.jspecify.annotations.NullMarked;
