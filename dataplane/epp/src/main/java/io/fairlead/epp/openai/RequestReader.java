package io.fairlead.epp.openai;

import io.fairlead.core.PromptSize;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.account.TokenEstimate;
import io.fairlead.core.prefix.BlockHasher;
import io.fairlead.core.prefix.HashSalt;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads a request body as model servers take it in one pass: the model and where it stands, the
 * limits, and the chained hashes of the prompt's blocks. Copies no text. Not thread-safe; one per
 * connection loop, reused.
 *
 * <p>The prompt is hashed in the order in which an engine lays it out, whatever the order in the
 * body: system text, tools, then messages, prompt or input. A cache salt is no part of it, but
 * prompts of different salts share no block. Whitespace between tokens does not count. A field that
 * is read may be there only once: which of two would win is up to each server, and the picker and
 * the engine must not see different requests.
 *
 * <p>Images, sounds and files are no text: what they cost is estimated, see {@link MediaKind}, and
 * in the chain of hashes a digest of each fills as many blocks as that many tokens of text would,
 * so that what stands behind them is where an engine has it.
 *
 * <p>The bytes are hashed as they stand: one prompt whose objects have their keys in another order,
 * or whose text is escaped in another way, looks like two. That only ever misses a match, it makes
 * none up. What an engine adds out of its own memory, such as the response that {@code
 * previous_response_id} names, is not seen at all.
 */
public final class RequestReader {

  /** Prompt blocks that are hashed by default: 4 MiB of text, a million tokens. */
  public static final int DEFAULT_MAX_BLOCKS = 65_536;

  /**
   * Bytes of text that parts may stand for beyond their own: 4,096 blocks. A list of addresses
   * stands for much and costs its sender nothing, so that without a bound short bodies would take
   * as long as the longest.
   */
  private static final long FREE_FILL = 4_096L * BlockHasher.BLOCK_BYTES;

  private static final int MAX_MODEL_BYTES = 512;
  private static final Field[] FIELDS = Field.values();

  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final JsonScanner scanner = new JsonScanner();
  private final BlockHasher hasher;
  private final PromptSpans spans;
  private final MediaParts media;
  private final ByteWindows.Reader text;
  private final byte[] digest = new byte[Long.BYTES];

  private final int[] valueFrom = new int[FIELDS.length];
  private final int[] valueTo = new int[FIELDS.length];
  private final int[] spansFrom = new int[FIELDS.length];
  private final int[] spansTo = new int[FIELDS.length];
  private final int[] partsFrom = new int[FIELDS.length];
  private final int[] promptBytes = new int[FIELDS.length];
  private final int[] mediaTokens = new int[FIELDS.length];
  private long freeFill;
  private Operation operation = Operation.OTHER;
  private int seen;
  private boolean modelEscaped;
  private int promptElements;

  /** A reader that hashes {@link #DEFAULT_MAX_BLOCKS} blocks at most. */
  public RequestReader() {
    this(DEFAULT_MAX_BLOCKS);
  }

  /**
   * A reader.
   *
   * @param maxBlocks longest prefix of a prompt that is hashed, in blocks of {@link
   *     BlockHasher#BLOCK_BYTES}; 1 to 100,000
   */
  public RequestReader(int maxBlocks) {
    this(maxBlocks, null);
  }

  /**
   * A reader.
   *
   * @param maxBlocks longest prefix of a prompt that is hashed, in blocks of {@link
   *     BlockHasher#BLOCK_BYTES}; 1 to 100,000
   * @param secret what prompts are hashed with when their hashes are to be written down; else null
   */
  public RequestReader(int maxBlocks, @Nullable HashSalt secret) {
    hasher = new BlockHasher(maxBlocks, secret);
    spans = new PromptSpans(maxBlocks * BlockHasher.BLOCK_BYTES);
    media = new MediaParts(spans);
    text = (bytes, from, to) -> hasher.add(bytes, from, to - from);
  }

  /**
   * Reads one body. Of one that can't be read, or has nothing to be read, nothing is known: the
   * model is empty, as is that of a call that names none and may do so.
   *
   * @param content what the request's head says of its body
   * @param body the whole request body
   * @throws BadRequestException if it is not what its head and path say it is
   */
  public ParsedRequest read(RequestContent content, BodyBytes body) throws BadRequestException {
    if (body.length() == 0 && content.mayBeEmpty()) {
      return ParsedRequest.UNKNOWN;
    }
    return switch (content.kind()) {
      case JSON -> read(content.path(), body);
      case FORM -> FormReader.read(content, body);
      case OPAQUE -> ParsedRequest.UNKNOWN;
    };
  }

  /**
   * Reads one body of JSON. Of one that can't be read for a path that is not known nothing is
   * known: whoever is behind that path says what is wrong.
   *
   * @param path the request's path; a query is ignored, only the end decides what the body needs
   * @param body the whole request body, JSON in UTF-8
   * @throws BadRequestException if it is not JSON of the shape that {@code path} asks for
   */
  public ParsedRequest read(String path, BodyBytes body) throws BadRequestException {
    operation = Operation.of(path);
    try {
      return read(body);
    } catch (BadRequestException e) {
      if (operation == Operation.OTHER) {
        return ParsedRequest.UNKNOWN;
      }
      throw e;
    }
  }

  private ParsedRequest read(BodyBytes body) throws BadRequestException {
    seen = 0;
    scanner.begin(body);
    media.begin(body);
    try {
      scan(body);
      boolean named = isModelNamed(body);
      String model = named ? model() : "";
      requirePrompt(body);
      return new ParsedRequest(
          model,
          named ? valueFrom[Field.MODEL.slot()] : 0,
          named ? valueTo[Field.MODEL.slot()] : 0,
          true,
          maxOutputTokens(body),
          answers(body),
          has(Field.STREAM) && body.at(valueFrom[Field.STREAM.slot()]) == 't',
          has(Field.PREVIOUS_RESPONSE_ID)
              && body.at(valueFrom[Field.PREVIOUS_RESPONSE_ID.slot()]) == '"',
          hash(body),
          hasher.blocks());
    } finally {
      scanner.release();
      media.release();
      spans.reset();
      hasher.reset();
    }
  }

  private void scan(BodyBytes body) throws BadRequestException {
    scanner.byteOrderMark();
    scanner.expect('{');
    if (!scanner.accept('}')) {
      do {
        int from = scanner.position();
        scanner.string();
        int to = scanner.position();
        Field field =
            scanner.escaped()
                ? Field.of(scanner.text(from, to, true))
                : Field.of(body, from + 1, to - 1);
        scanner.expect(':');
        value(field);
        scanner.whitespace();
      } while (scanner.accept(','));
      if (scanner.peek() != '}') {
        throw scanner.broken("',' or '}' expected");
      }
      scanner.expect('}');
    }
    scanner.expectEnd();
  }

  private void value(@Nullable Field field) throws BadRequestException {
    if (field == null || (field.ofPrompt() && !operation.reads(field))) {
      scanner.value(null, null);
      return;
    }
    if (has(field)) {
      throw new BadRequestException(
          400,
          ErrorCodes.DUPLICATE_FIELD,
          "The field '" + field.key() + "' is there twice; send it once.");
    }
    int i = field.slot();
    seen |= 1 << i;
    valueFrom[i] = scanner.position();
    if (field.ofPrompt()) {
      spans.beginSection(valueFrom[i]);
      media.beginSection();
      spansFrom[i] = spans.mark();
      partsFrom[i] = media.mark();
      scanner.value(spans, field.hasMedia() ? media : null);
      spansTo[i] = spans.mark();
      promptBytes[i] = spans.sectionBytes();
      mediaTokens[i] = media.sectionTokens();
    } else {
      scanner.value(null, null);
    }
    if (field == Field.MODEL) {
      modelEscaped = scanner.escaped();
    } else if (field == Field.PROMPT) {
      promptElements = scanner.elements();
    }
    valueTo[i] = scanner.position();
  }

  private boolean has(Field field) {
    return (seen & 1 << field.slot()) != 0;
  }

  private boolean isModelNamed(BodyBytes body) {
    return operation.needsModel()
        || (has(Field.MODEL) && body.at(valueFrom[Field.MODEL.slot()]) != 'n');
  }

  private String model() throws BadRequestException {
    int from = valueFrom[Field.MODEL.slot()];
    int to = valueTo[Field.MODEL.slot()];
    if (!has(Field.MODEL)) {
      throw invalidModel("is missing; name the model to ask");
    }
    if (!scanner.isString(from)) {
      throw invalidModel("is not a string; name the model to ask");
    }
    if (to - from == 2) {
      throw invalidModel("is empty; name the model to ask");
    }
    if (to - from > MAX_MODEL_BYTES) {
      throw invalidModel("is longer than " + MAX_MODEL_BYTES + " bytes");
    }
    return scanner.text(from, to, modelEscaped);
  }

  private static BadRequestException invalidModel(String problem) {
    return new BadRequestException(
        400, ErrorCodes.INVALID_MODEL, "The field 'model' " + problem + ".");
  }

  private void requirePrompt(BodyBytes body) throws BadRequestException {
    List<Field> needed = operation.needed();
    for (Field field : needed) {
      if (isPrompt(field, body)) {
        return;
      }
    }
    if (!needed.isEmpty()) {
      Field usual = needed.getFirst();
      throw new BadRequestException(
          400,
          ErrorCodes.MISSING_FIELD,
          "The field '"
              + usual.key()
              + "' is missing or empty; this path needs "
              + (usual == Field.MESSAGES ? "a list of at least one." : "a string or a list."));
    }
  }

  private boolean isPrompt(Field field, BodyBytes body) {
    int i = field.slot();
    byte first = has(field) ? body.at(valueFrom[i]) : 0;
    boolean list = first == '[' && promptBytes[i] > 2;
    return field == Field.MESSAGES ? list : list || first == '"';
  }

  private int maxOutputTokens(BodyBytes body) {
    if (operation.hasNoOutput()) {
      return 0;
    }
    int smallest = -1;
    for (int i = Field.MAX_TOKENS.slot(); i <= Field.MAX_OUTPUT_TOKENS.slot(); i++) {
      int limit = has(FIELDS[i]) ? wholeNumber(body, valueFrom[i], valueTo[i]) : -1;
      if (limit >= 0 && (smallest < 0 || limit < smallest)) {
        smallest = limit;
      }
    }
    return smallest;
  }

  /**
   * Of each prompt as many as {@code n} or {@code best_of} says; a list of tokens is one prompt.
   */
  private int answers(BodyBytes body) {
    if (operation != Operation.CHAT && operation != Operation.COMPLETIONS) {
      return 1;
    }
    int each = Math.max(1, number(Field.N, body));
    if (operation == Operation.COMPLETIONS) {
      each = Math.max(each, number(Field.BEST_OF, body));
    }
    long all = (long) each * prompts(body);
    return (int) Math.min(all, RequestFacts.MOST_ANSWERS);
  }

  private int number(Field field, BodyBytes body) {
    int i = field.slot();
    return has(field) ? wholeNumber(body, valueFrom[i], valueTo[i]) : -1;
  }

  private int prompts(BodyBytes body) {
    int i = Field.PROMPT.slot();
    if (operation != Operation.COMPLETIONS || !has(Field.PROMPT) || body.at(valueFrom[i]) != '[') {
      return 1;
    }
    int first = valueFrom[i] + 1;
    while (JsonScanner.isWhitespace(body.at(first))) {
      first++;
    }
    return body.at(first) == '"' || body.at(first) == '[' || body.at(first) == '{'
        ? promptElements
        : 1;
  }

  /** The number, at most {@link Integer#MAX_VALUE}; -1 for what is none: the engine's to refuse. */
  private static int wholeNumber(BodyBytes body, int from, int to) {
    long number = 0;
    for (int i = from; i < to; i++) {
      if (body.at(i) < '0' || body.at(i) > '9') {
        return -1;
      }
      number = Math.min(number * 10 + (body.at(i) - '0'), Integer.MAX_VALUE);
    }
    return (int) number;
  }

  /** Hashes the prompt; returns how large it is. */
  private PromptSize hash(BodyBytes body) {
    int salt = Field.CACHE_SALT.slot();
    if (has(Field.CACHE_SALT) && body.at(valueFrom[salt]) != 'n') {
      digest(body, valueFrom[salt], valueTo[salt]);
      hasher.reset(digest, 0, digest.length);
    } else {
      hasher.reset();
    }
    freeFill = FREE_FILL;
    long text = 0;
    long other = 0;
    Field before = null;
    for (int i = Field.SYSTEM.slot(); i < FIELDS.length; i++) {
      Field field = FIELDS[i];
      if (!has(field) || body.at(valueFrom[i]) == 'n' || !operation.counts(field, before)) {
        continue;
      }
      if (!field.leadsPrompt()) {
        before = field;
      }
      hash(i, body);
      text += promptBytes[i];
      other += mediaTokens[i];
    }
    return new PromptSize(text, (int) Math.min(other, Integer.MAX_VALUE));
  }

  private void hash(int section, BodyBytes body) {
    int part = partsFrom[section];
    spans.rewind(spansFrom[section], valueFrom[section]);
    while (spans.next(spansTo[section])) {
      int length = spans.to() - spans.from();
      int tokens = spans.isMedia() ? media.tokens(part++) : 0;
      if (tokens == 0) {
        body.show(spans.from(), spans.to(), text);
      } else {
        long wanted = (long) tokens * TokenEstimate.USUAL_BYTES;
        long fill = Math.min(wanted, length + freeFill);
        freeFill -= Math.max(0, fill - length);
        digest(body, spans.from(), spans.to());
        hasher.addDigest(digest, 0, digest.length, fill);
      }
    }
  }

  private void digest(BodyBytes body, int from, int to) {
    WORD.set(digest, 0, body.digest(from, to));
  }
}
