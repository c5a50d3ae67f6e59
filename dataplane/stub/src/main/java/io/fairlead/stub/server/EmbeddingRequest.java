package io.fairlead.stub.server;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;

/**
 * Embeddings to be made. The engine computes the prompts as it would any; what the vectors say is
 * the same for all.
 *
 * @param prompts what the engine is given
 * @param dimensions numbers of each vector
 * @param base64 whether a vector is written as the Base64 of its floats, as the client of OpenAI
 *     asks for
 */
record EmbeddingRequest(CompletionRequest prompts, int dimensions, boolean base64)
    implements ParsedRequest {

  ObjectNode answer(long number, long createdSeconds, Progress progress) {
    ObjectNode root =
        JsonNodeFactory.instance
            .objectNode()
            .put("id", Api.EMBEDDINGS.id(number))
            .put("object", "list")
            .put("created", createdSeconds)
            .put("model", prompts.model());
    ArrayNode data = root.putArray("data");
    for (int i = 0; i < progress.choices(); i++) {
      addVector(data.addObject().put("index", i).put("object", "embedding"));
    }
    ObjectNode usage =
        root.putObject("usage")
            .put("prompt_tokens", prompts.promptTokens())
            .put("total_tokens", prompts.promptTokens())
            .put("completion_tokens", 0);
    if (prompts.promptTokensDetails()) {
      usage.putObject("prompt_tokens_details").put("cached_tokens", progress.cachedTokens());
    } else {
      usage.putNull("prompt_tokens_details");
    }
    return root;
  }

  private void addVector(ObjectNode to) {
    float each = (float) (1 / Math.sqrt(dimensions));
    if (base64) {
      ByteBuffer bytes =
          ByteBuffer.allocate(dimensions * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      while (bytes.hasRemaining()) {
        bytes.putFloat(each);
      }
      to.put("embedding", Base64.getEncoder().encodeToString(bytes.array()));
    } else {
      ArrayNode vector = to.putArray("embedding");
      for (int i = 0; i < dimensions; i++) {
        vector.add(each);
      }
    }
  }
}
