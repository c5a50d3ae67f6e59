package io.fairlead.epp.openai;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The calls that model servers know, told apart by the end of their path. */
enum Operation {
  CHAT("/chat/completions", Field.MESSAGES),
  COMPLETIONS("/completions", Field.PROMPT),
  EMBEDDINGS("/embeddings", Field.INPUT, Field.MESSAGES),
  RESPONSES("/responses", Field.INPUT),
  MESSAGES("/messages", Field.MESSAGES),
  COUNT_TOKENS("/messages/count_tokens", Prompt.NOT_COMPUTED, true),
  POOLING("/pooling", Prompt.ANY, false, Field.MESSAGES, Field.INPUT),
  CLASSIFY("/classify", Prompt.ANY, false, Field.MESSAGES, Field.INPUT),
  RERANK("/rerank", Prompt.ALL, false, Field.QUERY, Field.DOCUMENTS),
  SCORE("/score", Prompt.ALL, false, Field.TEXT_1, Field.TEXT_2),
  GENERATE("/generate", Prompt.ANY, false, Field.TEXT, Field.INPUT_IDS, Field.TOKEN_IDS),
  TOKENIZE("/tokenize", Prompt.NOT_COMPUTED, false),
  DETOKENIZE("/detokenize", Prompt.NOT_COMPUTED, false),
  RENDER("/render", Prompt.NOT_COMPUTED, false),
  TRANSCRIPTIONS("/audio/transcriptions", Prompt.ANY, false),
  TRANSLATIONS("/audio/translations", Prompt.ANY, false),
  /** Anything else: whichever prompt field is there counts, and nothing is needed. */
  OTHER("", Prompt.ANY, false, Field.MESSAGES, Field.PROMPT, Field.INPUT);

  /** Which of the fields make the prompt that an engine computes. */
  private enum Prompt {
    /** One of them, which has to be there. */
    NEEDED,
    /** The first that is there. */
    ANY,
    /** All that are there. */
    ALL,
    /** None: the text is counted or split, and the engine's cache never sees it. */
    NOT_COMPUTED
  }

  private static final Operation[] ALL = values();

  private final String suffix;
  private final Prompt prompt;
  private final boolean needsModel;

  @SuppressWarnings("ImmutableEnumChecker") // made by List.of
  private final List<Field> fields;

  Operation(String suffix, Field... fields) {
    this(suffix, Prompt.NEEDED, true, fields);
  }

  Operation(String suffix, Prompt prompt, boolean needsModel, Field... fields) {
    this.suffix = suffix;
    this.prompt = prompt;
    this.needsModel = needsModel;
    this.fields = List.of(fields);
  }

  static Operation of(String path) {
    int query = path.indexOf('?');
    int length = query < 0 ? path.length() : query;
    for (Operation operation : ALL) {
      int from = length - operation.suffix.length();
      if (path.startsWith(operation.suffix, from)) {
        return operation;
      }
    }
    return OTHER;
  }

  /** Fields of which one has to be there; empty where none has to. */
  List<Field> needed() {
    return prompt == Prompt.NEEDED ? fields : List.of();
  }

  /** Whether model servers refuse the call when it names no model. */
  boolean needsModel() {
    return needsModel;
  }

  /** Whether an engine computes what the call brings. */
  boolean isComputed() {
    return prompt != Prompt.NOT_COMPUTED;
  }

  /** Whether the field can be a part of the prompt. */
  boolean reads(Field field) {
    return isComputed() && (field.leadsPrompt() || fields.contains(field));
  }

  /**
   * Whether the field, which is there, is a part of the prompt.
   *
   * @param before the one that counted before it, null for none
   */
  boolean counts(Field field, @Nullable Field before) {
    return field.leadsPrompt()
        || (fields.contains(field) && (before == null || prompt == Prompt.ALL));
  }

  /** Whether its body is a form, with a file in it. */
  boolean isForm() {
    return this == TRANSCRIPTIONS || this == TRANSLATIONS;
  }

  /** Whether a model answers it with text: in JSON, or in a stream of events. */
  boolean isCompletion() {
    return this == CHAT || this == COMPLETIONS || this == RESPONSES || this == MESSAGES;
  }

  /** Whether its answer has no tokens that an engine puts out one by one. */
  boolean hasNoOutput() {
    return switch (this) {
      case EMBEDDINGS, POOLING, CLASSIFY, RERANK, SCORE -> true;
      case COUNT_TOKENS, TOKENIZE, DETOKENIZE, RENDER -> true;
      case CHAT, COMPLETIONS, RESPONSES, MESSAGES, GENERATE -> false;
      case TRANSCRIPTIONS, TRANSLATIONS, OTHER -> false;
    };
  }

  /** Whether its errors are those of the Messages API. */
  boolean isMessages() {
    return this == MESSAGES || this == COUNT_TOKENS;
  }
}
