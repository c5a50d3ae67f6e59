package io.fairlead.stub.server;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * A sound to be written down. The words are made up, as all are.
 *
 * @param sound what the engine is given
 * @param seconds how long it is
 */
record TranscriptionRequest(CompletionRequest sound, int seconds) implements ParsedRequest {

  /** Nobody decodes the file: it counts as 16 kHz of 16 bits, in one channel. */
  private static final int BYTES_PER_SECOND = 32_000;

  static int seconds(int bytes) {
    return Math.ceilDiv(bytes, BYTES_PER_SECOND);
  }

  ObjectNode answer(Progress progress) {
    ObjectNode root =
        JsonNodeFactory.instance
            .objectNode()
            .put("text", Filler.text(progress.allTokens()).stripTrailing());
    root.putObject("usage").put("type", "duration").put("seconds", seconds);
    return root;
  }
}
