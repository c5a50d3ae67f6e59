/** Tests of the engine model. */
@NullMarked
package io.fairlead.stub.engine;

import org.jspecify.annotations.NullMarked;
