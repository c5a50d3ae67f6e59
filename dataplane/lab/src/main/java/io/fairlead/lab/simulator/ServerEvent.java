package io.fairlead.lab.simulator;

import java.util.Optional;

/**
 * Something that is otherwise than usual with one server for some time.
 *
 * @param server its number, from 0
 * @param kind what happens
 * @param at seconds from the start of the run until it begins
 * @param seconds that it lasts; infinite for to the end
 * @param amount how bad it is, in the kind's unit; see {@link Kind}
 */
public record ServerEvent(int server, Kind kind, double at, double seconds, double amount)
    implements ScenarioEvent {

  /** What can happen. */
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
    /** Its process dies; it is there again, with an empty cache, when the event is over. */
    RESTART("restart"),
    /** Its metrics page can't be had. */
    METRICS_GONE("metrics-gone"),
    /** It serves, but says that it is not healthy. */
    UNHEALTHY("unhealthy"),
    /** It is none of the pool's any more, and finishes what it has; the same process comes back. */
    LEAVE("leave"),
    /** What it has cached and nobody uses is lost, at one moment. */
    RESET_CACHE("reset-cache");

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

    /** As it is named in documents. */
    public String word() {
      return word;
    }

    /** The field that says how bad it is, where it can be more or less so. */
    Optional<String> amountField() {
      return amount.isEmpty() ? Optional.empty() : Optional.of(amount);
    }

    /** Whether it has an end. */
    boolean lasts() {
      return this != RESET_CACHE;
    }

    /** An event of this kind, as bad as it usually is. */
    public ServerEvent of(int server, double at, double seconds) {
      return new ServerEvent(server, this, at, seconds, usual);
    }

    /** An event of this kind that is so bad. */
    public ServerEvent of(int server, double at, double seconds, double amount) {
      return new ServerEvent(server, this, at, seconds, amount);
    }
  }

  public ServerEvent {
    ScenarioEvent.checkAt(at);
    if (server < 0) {
      throw new IllegalArgumentException("server: is " + server + "; set 0 or more");
    }
    if (!(seconds >= 0)) {
      throw new IllegalArgumentException("for: is " + seconds + " s; set 0s or more");
    }
    if (!(amount >= kind.least && amount <= kind.most)) {
      throw new IllegalArgumentException(
          "%s: is %s; set %s to %s".formatted(kind.amount, amount, kind.least, kind.most));
    }
  }

  /** When it is over, in seconds from the start of the run. */
  public double end() {
    return at + seconds;
  }

  @Override
  public ServerEvent movedTo(double otherAt) {
    return new ServerEvent(server, kind, otherAt, seconds, amount);
  }

  /** What it is, in a few words: {@code slow factor=3}. */
  String what() {
    return kind.amount.isEmpty()
        ? kind.word
        : kind.word
            + " "
            + kind.amount
            + "="
            + (amount == Math.rint(amount) ? "%.0f".formatted(amount) : amount);
  }
}
