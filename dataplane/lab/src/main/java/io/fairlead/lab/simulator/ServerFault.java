package io.fairlead.lab.simulator;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Something that is wrong with one server for some time.
 *
 * @param server its number, from 0
 * @param kind what is wrong
 * @param at seconds from the start of the run until it begins
 * @param seconds that it lasts; infinite for to the end
 * @param amount how bad it is, in the kind's unit; see {@link Kind}
 */
public record ServerFault(int server, Kind kind, double at, double seconds, double amount) {

  private static final Pattern RANGE = Pattern.compile("([0-9]{1,5})(?:-([0-9]{1,5}))?");
  private static final List<String> FIELDS = List.of("kind", "server", "at", "for", "every");
  private static final int MOST_TIMES = 10_000;

  /** What can be wrong. */
  public enum Kind {
    /** Nobody listens on its port, and connections end. */
    REFUSE("refuse"),
    /** Connections hang, new ones never come about: the host is gone. */
    SWALLOW("swallow"),
    /** It answers a share of completions with 500 at once; amount is the share, 1 unless said. */
    FAIL_FAST("fail-fast", "share", 1, 0, 1),
    /** It answers completions with 500; amount is after how many seconds. */
    FAIL_LATE("fail-late", "after", 1, 0, 3_600),
    /** It takes everything and answers nothing. */
    FREEZE("freeze"),
    /** The same, but metrics and health are answered. */
    FREEZE_LIVE("freeze-live"),
    /** Its engine's steps take longer; amount is how many times as long. */
    SLOW("slow", "factor", 10, 0.01, 1e6),
    /** It answers new completions with 500 without a body, and finishes what it has. */
    DRAIN("drain"),
    /** Its process dies; it is there again, with an empty cache, when the fault is over. */
    RESTART("restart"),
    /** Its metrics page can't be had. */
    METRICS_GONE("metrics-gone"),
    /** It serves, but says that it is not healthy. */
    UNHEALTHY("unhealthy");

    private final String word;
    private final String amount;
    private final double usual;
    private final double least;
    private final double most;

    Kind(String word) {
      this(word, "", 0, 0, 0);
    }

    Kind(String word, String amount, double usual, double least, double most) {
      this.word = word;
      this.amount = amount;
      this.usual = usual;
      this.least = least;
      this.most = most;
    }

    /** As it is named in specs. */
    public String word() {
      return word;
    }

    /** A fault of this kind, as bad as it usually is. */
    public ServerFault of(int server, double at, double seconds) {
      return new ServerFault(server, this, at, seconds, usual);
    }

    /** A fault of this kind that is so bad. */
    public ServerFault of(int server, double at, double seconds, double amount) {
      return new ServerFault(server, this, at, seconds, amount);
    }
  }

  public ServerFault {
    if (server < 0) {
      throw new IllegalArgumentException("fault: server is " + server + "; set 0 or more");
    }
    if (!(at >= 0 && at <= 1e7)) {
      throw new IllegalArgumentException("fault: at is " + at + " s; set 0s to 10000000s");
    }
    if (!(seconds >= 0)) {
      throw new IllegalArgumentException("fault: for is " + seconds + " s; set 0s or more");
    }
    if (!(amount >= kind.least && amount <= kind.most)) {
      throw new IllegalArgumentException(
          "fault: %s is %s; set %s to %s".formatted(kind.amount, amount, kind.least, kind.most));
    }
  }

  /** When it is over, in seconds from the start of the run. */
  public double end() {
    return at + seconds;
  }

  /**
   * Reads faults: {@code kind=fail-fast,server=2,at=10s,for=20s}. The server may be several, as in
   * {@code 0-3}; without {@code at} it begins with the run, without {@code for} it lasts to its
   * end; {@code every=2s} repeats it up to the end of the run. {@code share}, {@code after} and
   * {@code factor} go with the kinds that have them.
   *
   * @param runSeconds length of the run
   * @throws IllegalArgumentException if it is none; the message names the field and says what is
   *     expected
   */
  public static List<ServerFault> parse(String text, double runSeconds) {
    Map<String, String> fields = fields(text);
    Kind kind = kind(text, fields.remove("kind"));
    int[] servers = servers(text, fields.remove("server"));
    double at = seconds("at", fields.remove("at"), 0);
    double lasts = seconds("for", fields.remove("for"), Double.POSITIVE_INFINITY);
    double every = seconds("every", fields.remove("every"), Double.POSITIVE_INFINITY);
    double amount = amount(kind, fields.remove(kind.amount));
    if (!fields.isEmpty()) {
      String known =
          Stream.concat(FIELDS.stream(), Stream.of(kind.amount))
              .filter(name -> !name.isEmpty())
              .collect(Collectors.joining(", "));
      throw new IllegalArgumentException(
          "fault: \"%s\" has %s; a %s has %s"
              .formatted(text, fields.keySet().iterator().next(), kind.word, known));
    }
    if (!(every > 0) || (every <= lasts && every < runSeconds)) {
      throw new IllegalArgumentException(
          "fault: every is %s s; set more than the %s s that it is there for"
              .formatted(every, lasts));
    }
    if ((runSeconds - at) / every > MOST_TIMES) {
      throw new IllegalArgumentException(
          "fault: every is %s s, more than %d times in a run; set more"
              .formatted(every, MOST_TIMES));
    }
    List<ServerFault> faults = new ArrayList<>();
    for (double from = at; from == at || from < runSeconds; from += every) {
      for (int server = servers[0]; server <= servers[1]; server++) {
        faults.add(kind.of(server, from, lasts, amount));
      }
    }
    return faults;
  }

  private static Map<String, String> fields(String text) {
    Map<String, String> fields = new LinkedHashMap<>();
    for (String part : text.split(",", -1)) {
      String[] pair = part.split("=", 2);
      if (pair.length < 2 || pair[0].isBlank() || pair[1].isBlank()) {
        throw new IllegalArgumentException(
            "fault: \"%s\" is not NAME=VALUE, as in kind=fail-fast,server=2,at=10s,for=20s"
                .formatted(part));
      }
      if (fields.put(pair[0].strip(), pair[1].strip()) != null) {
        throw new IllegalArgumentException(
            "fault: \"%s\" has %s twice; once is enough".formatted(text, pair[0]));
      }
    }
    return fields;
  }

  private static Kind kind(String text, @Nullable String word) {
    for (Kind kind : Kind.values()) {
      if (kind.word.equals(word)) {
        return kind;
      }
    }
    throw new IllegalArgumentException(
        "fault: kind in \"%s\" is %s; set one of %s"
            .formatted(
                text,
                Objects.requireNonNullElse(word, "missing"),
                Arrays.stream(Kind.values()).map(Kind::word).collect(Collectors.joining(", "))));
  }

  private static int[] servers(String text, @Nullable String range) {
    Matcher parts = RANGE.matcher(Objects.requireNonNullElse(range, ""));
    if (parts.matches()) {
      int first = Integer.parseInt(parts.group(1));
      int last = parts.group(2) == null ? first : Integer.parseInt(parts.group(2));
      if (first <= last) {
        return new int[] {first, last};
      }
    }
    throw new IllegalArgumentException(
        "fault: server in \"%s\" is %s; set a number, or several as in 0-3"
            .formatted(text, Objects.requireNonNullElse(range, "missing")));
  }

  private static double amount(Kind kind, @Nullable String text) {
    if (text == null) {
      return kind.usual;
    }
    if (kind == Kind.FAIL_LATE) {
      return seconds(kind.amount, text, kind.usual);
    }
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "fault: %s is %s; set a number from %s to %s"
              .formatted(kind.amount, text, kind.least, kind.most),
          e);
    }
  }

  private static double seconds(String field, @Nullable String text, double otherwise) {
    if (text == null) {
      return otherwise;
    }
    double unit = text.endsWith("ms") ? 1e-3 : 1;
    String number = text.replaceFirst("m?s$", "");
    try {
      if (!number.equals(text) && number.matches("[0-9.]+")) {
        return Double.parseDouble(number) * unit;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new IllegalArgumentException(
        "fault: %s is %s; set seconds, as in 10s or 500ms".formatted(field, text));
  }
}
