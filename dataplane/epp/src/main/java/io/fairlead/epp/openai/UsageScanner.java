package io.fairlead.epp.openai;

import io.fairlead.core.Usage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds {@code usage} in JSON that comes byte by byte: at the top level, or inside {@code response}
 * or {@code message} as events of the Responses and of the Messages API have it. Keeps its place
 * and one short key, never the text.
 *
 * <p>Of several, each count is the last one told: the Messages API tells those of the prompt in its
 * first event and those of the answer in its last. There, what was found in the cache or put into
 * it is no part of {@code input_tokens}; here it is a part of the prompt.
 *
 * <p>Also finds whether a document begins with an {@code error} whose {@code code} is a 5xx,
 * whether there are errors and nothing of an answer, whether one of them is about the model, and
 * whether what is there of an answer is all of it.
 *
 * <p>Lenient: it checks no more than it needs to find its way. What is not as expected (a usage
 * that is no object, a count that is no whole number) is unknown; what is not JSON is passed over
 * up to {@link #reset}. Counts are taken over when their object closes, so a usage that is cut off
 * is none.
 */
final class UsageScanner {

  /** What the objects on the way to the counts are; everything else is passed over. */
  private enum Node {
    OUTSIDE,
    ROOT,
    RESPONSE,
    MESSAGE,
    USAGE,
    DETAILS,
    ERROR
  }

  private enum Expect {
    KEY,
    IN_KEY,
    /** Inside a text that is kept as far as it fits in the place of a key. */
    IN_TEXT,
    COLON,
    VALUE,
    NUMBER,
    COMMA,
    /** Inside a value that does not matter. */
    SKIP,
    /** Not JSON; nothing more is read. */
    BROKEN
  }

  private enum Key {
    USAGE("usage"),
    RESPONSE("response"),
    MESSAGE("message"),
    PROMPT("prompt_tokens"),
    INPUT("input_tokens"),
    COMPLETION("completion_tokens"),
    OUTPUT("output_tokens"),
    PROMPT_DETAILS("prompt_tokens_details"),
    INPUT_DETAILS("input_tokens_details"),
    CACHED("cached_tokens"),
    CACHE_READ("cache_read_input_tokens"),
    CACHE_CREATED("cache_creation_input_tokens"),
    ERROR("error"),
    CODE("code"),
    PARAM("param"),
    OBJECT("object"),
    CHOICES("choices"),
    ITEMS("output"),
    CONTENT("content"),
    DATA("data"),
    EMBEDDING("embedding"),
    EMBEDDINGS("embeddings");

    private static final Key[] ALL = values();
    private static final int LONGEST = 32;

    private final String text;

    Key(String text) {
      this.text = text;
    }

    static @Nullable Key of(byte[] bytes, int length) {
      for (Key key : ALL) {
        if (JsonString.same(key.text, bytes, 0, length)) {
          return key;
        }
      }
      return null;
    }
  }

  private static final int UNKNOWN = -1;
  private static final byte[] USAGE = {'"', 'u', 's', 'a', 'g', 'e', '"'};
  private static final byte[] FINISH = StreamEnd.FINISH;
  private static final byte[] ERROR = {'{', '"', 'e', 'r', 'r', 'o', 'r', '"'};

  private static final List<String> MODEL = List.of("The model ", "model ", "Model ");

  /** A double quote stands behind a backslash. */
  private static final String QUOTES = "`'\\";

  /** Of a document, its root and the first key in it. */
  private static final int BEGINNING = 2;

  private final Node[] path = {Node.OUTSIDE, Node.ROOT, Node.OUTSIDE, Node.OUTSIDE, Node.OUTSIDE};
  private final byte[] keyText = new byte[Key.LONGEST];
  private int depth;
  private Expect expect = Expect.VALUE;
  private int keyLength;
  private @Nullable Key key;
  private boolean escape;
  private final SkippedValue skipped = new SkippedValue();
  private long number;

  /** Values outside of all others and keys of these, so far in this document. */
  private int seen;

  private boolean failed;

  /** Whether the error that is read is the first thing in its document. */
  private boolean leads;

  /** Whether a document has been an error, with the last code that was told. */
  private boolean error;

  private int code = UNKNOWN;

  /** Whether an error has said that it is about the model that was named. */
  private boolean ofModel;

  /** Whether a document has had what answers have, or nobody knows what that is. */
  private boolean answer;

  private final Answers answers;

  /** Whether what made it an answer is of a kind whose streams tell where they end. */
  private boolean tellsEnd;

  /** Whether an error has been the first thing in its document. */
  private boolean endsInError;

  /** Whether a document has been a list, as the last word of streams looks like. */
  private boolean list;

  /** Whether a document has been there to its end. */
  private boolean whole;

  /** Whether the usage of a whole answer has been told, and not that of its beginning. */
  private boolean finalUsage;

  private int prompt = UNKNOWN;
  private int completion = UNKNOWN;
  private int cached = UNKNOWN;
  private int cacheRead = UNKNOWN;
  private int cacheCreated = UNKNOWN;
  private Usage usage = Usage.UNKNOWN;

  /** What an answer has. */
  enum Answers {
    /** Nobody knows: nothing is taken for an error alone, and no more is read than usage needs. */
    UNKNOWN,
    TEXT,
    VECTORS
  }

  /** A scanner that has read nothing. */
  UsageScanner(Answers answers) {
    this.answers = answers;
    answer = answers == Answers.UNKNOWN;
  }

  /** A new document begins. What was found in those before stays. */
  void reset() {
    depth = 0;
    expect = Expect.VALUE;
    escape = false;
    seen = 0;
  }

  /**
   * Where an event's data ends from there on, if there is no usage in it and it says neither that
   * its answer is finished nor that it failed, once there has been an answer; else {@code from}.
   */
  int event(byte[] bytes, int from, int to) {
    return answer && depth == 0 && expect == Expect.VALUE && !mayMatter(bytes, from, to)
        ? JsonWords.endOfEventWithout(USAGE, FINISH, bytes, from, to)
        : from;
  }

  /** Whether it is no object or begins with an error, as far as it is there. */
  private static boolean mayMatter(byte[] bytes, int from, int to) {
    int at = from;
    for (int i = 0; i < ERROR.length; i++) {
      while (at < to && JsonScanner.isWhitespace(bytes[at])) {
        at++;
      }
      if (at == to) {
        return true;
      }
      if (bytes[at++] != ERROR[i]) {
        return i == 0;
      }
    }
    return true;
  }

  /** Whether one of the documents has been an error of the server's. */
  boolean failed() {
    return failed;
  }

  /** Whether there has been an error, and nothing of an answer. */
  boolean isErrorAlone() {
    return error && !answer;
  }

  /** Whether there has been what an answer has, or its usage. */
  boolean isAnswer() {
    return answer || !usage.equals(Usage.UNKNOWN);
  }

  /** Whether a document has been there to its end. */
  boolean isWhole() {
    return whole;
  }

  /** Whether a document has been a list: what lists are is not known. */
  boolean isList() {
    return list;
  }

  /**
   * Whether documents that are events of one answer have begun it, and none of them has told of its
   * end: with its usage, an error, or a list, as {@code [DONE]} looks like.
   */
  boolean isUnfinished() {
    return tellsEnd && !finalUsage && !endsInError && !list;
  }

  /** The number that an error was told with; -1 for none. */
  int code() {
    return code;
  }

  /**
   * Whether there has been an error that is about the model that the request names: its {@code
   * param} is {@code model} (OpenAI, vLLM), its {@code code} is {@code model_not_found}, or its
   * message begins with the model's name ({@code The model `x` …}, as of older vLLM, or {@code
   * model 'x' …}). A path that a server lacks, or a page of a proxy, says nothing of that kind.
   */
  boolean isErrorOfModel() {
    return ofModel;
  }

  Usage usage() {
    return usage;
  }

  /** Takes bytes up to the end of a line, and says where that is; {@code to} if it is not there. */
  int line(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to) {
      if (expect == Expect.SKIP) {
        at = skipped.ahead(bytes, at, to);
      } else if (expect == Expect.BROKEN) {
        at = JsonWords.control(bytes, at, to);
      }
      if (at < to) {
        byte b = bytes[at];
        if (b == '\n' || b == '\r') {
          return at;
        }
        next(b);
        at++;
      }
    }
    return to;
  }

  void next(byte b) {
    switch (expect) {
      case SKIP -> {
        if (skipped.next(b)) {
          whole |= depth == 0;
          expect = afterValue();
        }
      }
      case IN_KEY -> {
        if (inText(b)) {
          key = Key.of(keyText, keyLength);
          seen += depth == 1 ? 1 : 0;
          expect = Expect.COLON;
        }
      }
      case IN_TEXT -> {
        if (inText(b)) {
          text();
          expect = afterValue();
        }
      }
      case KEY -> {
        if (b == '"') {
          keyLength = 0;
          expect = Expect.IN_KEY;
        } else if (b == '}') {
          close();
        } else {
          seen += b == ',' ? 1 : 0; // in the place of a key
          unless(b, ',', Expect.KEY);
        }
      }
      case COLON -> unless(b, ':', Expect.VALUE);
      case VALUE -> value(b);
      case NUMBER -> number(b);
      case COMMA -> {
        if (b == '}') {
          close();
        } else {
          unless(b, ',', Expect.KEY);
        }
      }
      case BROKEN -> {}
    }
  }

  private void unless(byte b, char wanted, Expect then) {
    if (b == wanted) {
      expect = then;
    } else if (!JsonScanner.isWhitespace(b)) {
      expect = Expect.BROKEN;
    }
  }

  private Expect afterValue() {
    return depth == 0 ? Expect.VALUE : Expect.COMMA;
  }

  /** Keeps the next byte of a text; whether it has ended instead. */
  private boolean inText(byte b) {
    if (escape) {
      escape = false;
    } else if (b == '"') {
      return true;
    } else {
      escape = b == '\\';
    }
    if (keyLength < keyText.length) {
      keyText[keyLength++] = b;
    }
    return false;
  }

  private void value(byte b) {
    if (depth == 0 && seen == 0 && JsonScanner.isOfByteOrderMark(b)) {
      return;
    }
    seen += depth == 0 && !JsonScanner.isWhitespace(b) ? 1 : 0;
    switch (b) {
      case '{' -> {
        noteKind(key == Key.RESPONSE || key == Key.MESSAGE, true);
        open();
      }
      case '[' -> {
        noteKind(false, false);
        list |= depth == 0 && seen == 1;
        skipped.beginContainer();
        expect = Expect.SKIP;
      }
      case '"' -> {
        noteKind(false, true);
        if (isKept()) {
          keyLength = 0;
          expect = Expect.IN_TEXT;
        } else {
          skipped.beginString(false);
          expect = Expect.SKIP;
        }
      }
      case ' ', '\n', '\r', '\t' -> {}
      default -> {
        number = 0;
        expect = Expect.NUMBER;
        number(b);
      }
    }
  }

  /** Whether the text that begins tells something, under its key. */
  private boolean isKept() {
    boolean ofError = path[depth] == Node.ERROR || path[depth] == Node.ROOT;
    return (depth == 1 && key == Key.OBJECT)
        || (ofError && (key == Key.PARAM || key == Key.CODE || key == Key.MESSAGE));
  }

  /** A text that is kept has ended. */
  private void text() {
    switch (key) {
      case OBJECT -> error |= isText("error");
      case PARAM -> ofModel |= isText("model");
      case CODE -> ofModel |= isText("model_not_found");
      case MESSAGE -> ofModel |= namesModel();
      case null, default -> {}
    }
  }

  private boolean isText(String wanted) {
    return JsonString.same(wanted, keyText, 0, keyLength);
  }

  /** Whether the text begins with a model's name, in quotes of any kind. */
  private boolean namesModel() {
    for (String beginning : MODEL) {
      int length = beginning.length();
      if (keyLength > length && JsonString.same(beginning, keyText, 0, length)) {
        return QUOTES.indexOf(keyText[length]) >= 0;
      }
    }
    return false;
  }

  /**
   * Notes what the value that begins says of its document: null, a number or a literal says
   * nothing.
   *
   * @param ofAnswer whether it says that it is an answer, beside those that any such value makes
   *     one
   * @param ofError whether it may be an error
   */
  private void noteKind(boolean ofAnswer, boolean ofError) {
    if (depth == 1) {
      if (!answer && isOfAnswer(ofAnswer)) {
        answer = true;
        tellsEnd = key == Key.CHOICES || key == Key.RESPONSE || key == Key.MESSAGE;
      }
      error |= ofError && key == Key.ERROR;
      endsInError |= ofError && key == Key.ERROR && seen == BEGINNING;
    }
  }

  private boolean isOfAnswer(boolean ofText) {
    return answers == Answers.TEXT
        ? ofText || key == Key.CHOICES || key == Key.ITEMS || key == Key.CONTENT
        : key == Key.DATA || key == Key.EMBEDDING || key == Key.EMBEDDINGS;
  }

  private void open() {
    Node node = depth == 0 ? Node.ROOT : inside(path[depth]);
    if (node == Node.OUTSIDE) {
      skipped.beginContainer();
      expect = Expect.SKIP;
      return;
    }
    path[++depth] = node;
    expect = Expect.KEY;
    leads = seen == BEGINNING;
    if (node == Node.USAGE) {
      prompt = UNKNOWN;
      completion = UNKNOWN;
      cached = UNKNOWN;
      cacheRead = UNKNOWN;
      cacheCreated = UNKNOWN;
    }
  }

  private Node inside(Node parent) {
    return switch (parent) {
      case ROOT ->
          switch (key) {
            case USAGE -> Node.USAGE;
            case RESPONSE -> Node.RESPONSE;
            case MESSAGE -> Node.MESSAGE;
            case ERROR -> Node.ERROR;
            case null, default -> Node.OUTSIDE;
          };
      case RESPONSE, MESSAGE -> key == Key.USAGE ? Node.USAGE : Node.OUTSIDE;
      case USAGE ->
          key == Key.PROMPT_DETAILS || key == Key.INPUT_DETAILS ? Node.DETAILS : Node.OUTSIDE;
      case DETAILS, ERROR, OUTSIDE -> Node.OUTSIDE;
    };
  }

  private void close() {
    if (path[depth] == Node.USAGE) {
      take();
    }
    depth--;
    whole |= depth == 0;
    expect = afterValue();
  }

  private void take() {
    finalUsage |= path[depth - 1] != Node.MESSAGE; // that of a message is told as it begins
    long apart = (long) Math.max(0, cacheRead) + Math.max(0, cacheCreated);
    int whole = prompt < 0 ? UNKNOWN : (int) Math.min(prompt + apart, Integer.MAX_VALUE);
    usage =
        new Usage(
            told(whole, usage.promptTokens()),
            told(completion, usage.completionTokens()),
            told(cacheRead < 0 ? cached : cacheRead, usage.cachedTokens()));
  }

  private static int told(int now, int before) {
    return now < 0 ? before : now;
  }

  /** A number or a literal. Signs, fractions, letters and more than fits make it unknown. */
  private void number(byte b) {
    if (b >= '0' && b <= '9') {
      if (number >= 0) {
        number = number * 10 + (b - '0');
        number = number > Integer.MAX_VALUE ? UNKNOWN : number;
      }
    } else if (b == ',' || b == '}' || JsonScanner.isWhitespace(b)) {
      count((int) number);
      expect = afterValue();
      if (depth > 0) {
        next(b);
      }
    } else {
      number = UNKNOWN;
    }
  }

  private void count(int value) {
    if (depth == 0 || key == null) {
      return;
    }
    if (path[depth] == Node.USAGE) {
      switch (key) {
        case PROMPT, INPUT -> prompt = value;
        case COMPLETION, OUTPUT -> completion = value;
        case CACHE_READ -> cacheRead = value;
        case CACHE_CREATED -> cacheCreated = value;
        default -> {}
      }
    } else if (path[depth] == Node.DETAILS && key == Key.CACHED) {
      cached = value;
    } else if (path[depth] == Node.ERROR && key == Key.CODE) {
      code = value;
      failed |= leads && value >= 500 && value < 600;
    } else if (path[depth] == Node.ROOT && key == Key.CODE) {
      code = value;
    }
  }
}
