/** Tests of the model server stub. */
@NullMarked
package io.fairlead.stub.server;

import org.jspecify.annotations.NullMarked;
