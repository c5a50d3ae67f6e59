package io.fairlead.stub.server;

/** The shapes in which work of the engine is asked for and answered. */
enum Api {
  CHAT("chatcmpl-", "messages"),
  COMPLETIONS("cmpl-", "prompt"),
  RESPONSES("resp_", "input"),
  EMBEDDINGS("embd-", "input"),
  TRANSCRIPTIONS("trsc-", "file");

  private final String idPrefix;
  private final String promptField;

  Api(String idPrefix, String promptField) {
    this.idPrefix = idPrefix;
    this.promptField = promptField;
  }

  String id(long number) {
    return idPrefix + Long.toHexString(number);
  }

  /** The field that holds the prompt. */
  String promptField() {
    return promptField;
  }
}
