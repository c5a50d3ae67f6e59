package io.fairlead.stub.server;

import java.util.Locale;

/** Whose metrics and manners a {@link ModelServer} has. */
public enum EngineKind {
  /** vLLM: told to stop, it refuses what is new and looks healthy to the end. */
  VLLM,
  /** SGLang: told to stop, it looks unhealthy at once and takes what still comes. */
  SGLANG;

  /**
   * The kind that configs call {@code name}.
   *
   * @throws IllegalArgumentException if there is none; the message lists the names
   */
  public static EngineKind named(String name) {
    return switch (name) {
      case "vllm" -> VLLM;
      case "sglang" -> SGLANG;
      default ->
          throw new IllegalArgumentException(
              "engine: no engine \"" + name + "\"; known: vllm, sglang");
    };
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
