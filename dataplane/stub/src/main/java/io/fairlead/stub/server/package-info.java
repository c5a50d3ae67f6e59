/** A model server without a model: the OpenAI API and vLLM's metrics around the engine model. */
@NullMarked
package io.fairlead.stub.server;

import org.jspecify.annotations.NullMarked;
