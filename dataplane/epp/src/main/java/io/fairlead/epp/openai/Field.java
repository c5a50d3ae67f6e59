package io.fairlead.epp.openai;

import org.jspecify.annotations.Nullable;

/** The fields of a request that are read. Those of the prompt stand in the order of hashing. */
enum Field {
  MODEL(0, "model"),
  MAX_TOKENS(1, "max_tokens"),
  MAX_COMPLETION_TOKENS(2, "max_completion_tokens"),
  MAX_OUTPUT_TOKENS(3, "max_output_tokens"),
  STREAM(4, "stream"),
  N(5, "n"),
  BEST_OF(6, "best_of"),
  PREVIOUS_RESPONSE_ID(7, "previous_response_id"),
  CACHE_SALT(8, "cache_salt"),
  SYSTEM(9, "system"),
  INSTRUCTIONS(10, "instructions"),
  TOOLS(11, "tools"),
  MESSAGES(12, "messages"),
  PROMPT(13, "prompt"),
  INPUT(14, "input"),
  QUERY(15, "query"),
  DOCUMENTS(16, "documents"),
  TEXT_1(17, "text_1"),
  TEXT_2(18, "text_2"),
  TEXT(19, "text"),
  INPUT_IDS(20, "input_ids"),
  TOKEN_IDS(21, "token_ids");

  private static final Field[] ALL = values();

  private final int slot;
  private final String key;

  Field(int slot, String key) {
    this.slot = slot;
    this.key = key;
  }

  static @Nullable Field of(BodyBytes body, int from, int to) {
    for (Field field : ALL) {
      if (body.same(field.key, from, to)) {
        return field;
      }
    }
    return null;
  }

  static @Nullable Field of(String key) {
    for (Field field : ALL) {
      if (field.key.equals(key)) {
        return field;
      }
    }
    return null;
  }

  String key() {
    return key;
  }

  /** Index of what is remembered about the field; rises in the order of declaration. */
  int slot() {
    return slot;
  }

  boolean ofPrompt() {
    return slot > CACHE_SALT.slot;
  }

  /** Whether it stands before the prompt proper, whatever that is. */
  boolean leadsPrompt() {
    return ofPrompt() && slot < MESSAGES.slot;
  }

  /** Whether there can be more in it than text; tools are described in words. */
  boolean hasMedia() {
    return slot > TOOLS.slot;
  }
}
