package io.fairlead.plugin;

/** What a plugin may know of the request that is being scheduled. Never its text. */
public interface InferenceRequest {

  /** The model as the client asked for it; empty for calls that name none. */
  String model();

  /** What the model servers will be asked for. */
  String targetModel();

  /** Prompt length in tokens, estimated. */
  int promptTokens();

  /** Length of the prompt in whole hash blocks. */
  int blockCount();

  /** The request's own limit on output tokens, or -1 when it sets none. */
  int maxOutputTokens();

  /** Random bits of this request: the only source of randomness that a plugin may use. */
  long seed();
}
