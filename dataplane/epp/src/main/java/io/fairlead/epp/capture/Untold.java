package io.fairlead.epp.capture;

/** What a core may be told that is not written down: a replay need not come out the same then. */
public enum Untold {
  /** What engines tell of their caches. */
  KV_EVENTS("kv_events", "engines have told of their caches"),
  /** Prompts as a model's own tokenizer cuts them. */
  TOKENS("tokens", "prompts were cut into tokens"),
  /** What another picker knew. */
  TAKEN_OVER("taken_over", "another picker has told what it knew"),
  /** What a plugin had learned that came into force, here before or in a shadow. */
  LEARNED("learned", "a plugin that came into force had learned before");

  private final String code;
  private final String words;

  Untold(String code, String words) {
    this.code = code;
    this.words = words;
  }

  /** As it is written. */
  public String code() {
    return code;
  }

  /** In words, to be read after "not captured:". */
  public String words() {
    return words;
  }
}
