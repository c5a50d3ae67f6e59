package io.fairlead.stub.server;

/** A completion to be done. Holds sizes and hashes of the prompt, never its text. */
final class CompletionRequest implements ParsedRequest {

  private final boolean chat;
  private final String model;
  private final String adapter;
  private final boolean stream;
  private final boolean includeUsage;
  private final int promptTokens;
  private final int outputTokens;
  private final long[] blocks;

  CompletionRequest(
      boolean chat,
      String model,
      String adapter,
      boolean stream,
      boolean includeUsage,
      int promptTokens,
      int outputTokens,
      long[] blocks) {
    this.chat = chat;
    this.model = model;
    this.adapter = adapter;
    this.stream = stream;
    this.includeUsage = includeUsage;
    this.promptTokens = promptTokens;
    this.outputTokens = outputTokens;
    this.blocks = blocks;
  }

  /** Whether it came on the chat path. */
  boolean chat() {
    return chat;
  }

  String model() {
    return model;
  }

  /** The LoRA adapter that the model is; empty for a base model. */
  String adapter() {
    return adapter;
  }

  /** Whether the answer is a stream of events. */
  boolean stream() {
    return stream;
  }

  /** Whether the stream ends with the usage. */
  boolean includeUsage() {
    return includeUsage;
  }

  int promptTokens() {
    return promptTokens;
  }

  int outputTokens() {
    return outputTokens;
  }

  /** Identities of the full blocks of prompt and answer; not copied, not changed by anyone. */
  long[] blocks() {
    return blocks;
  }
}
