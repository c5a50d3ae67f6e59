package io.fairlead.lab.workload;

import io.fairlead.lab.document.Fields;
import io.fairlead.lab.workload.Conversation.Manner;
import io.fairlead.lab.workload.Mix.Part;
import io.fairlead.lab.workload.Preset.Unit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads workloads of a user's own: what sessions or requests are like, and how many come. */
final class WorkloadDocument {

  private static final String WORKLOAD = "a workload";
  private static final String DEFAULT_POOL = "8xh100-8b";
  private static final double DEFAULT_SECONDS = 300;
  private static final double WARM_UP = 0.2;
  private static final double MOST_BURSTY = 20;

  private static final Map<String, List<String>> SHAPES =
      Map.of(
          "exponential", List.of("mean"),
          "geometric", List.of("mean"),
          "normal", List.of("mean", "sd"),
          "log-normal", List.of("mean", "sd"));

  private static final String EITHER = "either";

  private static final List<String> KINDS = List.of("sessions", "groups", "requests");
  private static final List<String> COMMON =
      List.of("summary", "load", "pool", "length", "warmUp", "burstiness");

  private final Fields root;

  private WorkloadDocument(Fields root) {
    this.root = root;
  }

  static Catalogue.Entry read(String name, String origin, String text) {
    Fields root = Fields.of(origin, text);
    return new WorkloadDocument(root).entry(name);
  }

  private Catalogue.Entry entry(String name) {
    root.only(WORKLOAD, Stream.concat(COMMON.stream(), KINDS.stream()).toList());
    List<String> kinds = KINDS.stream().filter(root::has).toList();
    if (kinds.size() != 1) {
      root.wrong(
          kinds.isEmpty() ? "sessions" : kinds.getLast(),
          "is %s; set one of %s".formatted(kinds.isEmpty() ? "missing" : "a second kind", KINDS));
    }
    double load = root.positive("load", null);
    double seconds = root.seconds("length", DEFAULT_SECONDS);
    double warmUp = root.seconds("warmUp", seconds * WARM_UP);
    if (!(seconds > warmUp)) {
      root.wrong("warmUp", "is " + warmUp + " s; set less than the length, " + seconds + " s");
    }
    double cv = root.positive("burstiness", 1.0);
    if (cv > MOST_BURSTY) {
      root.wrong("burstiness", "is " + cv + "; set above 0 to 20");
    }
    String kind = kinds.isEmpty() ? "" : kinds.getFirst();
    BiFunction<ArrivalTimes, Long, Traffic> traffic = traffic(kind);
    Preset preset =
        new Preset(
            name,
            root.text("summary").orElse("a workload of its own"),
            load,
            kind.equals("sessions") ? Unit.SESSIONS_PER_SECOND : Unit.REQUESTS_PER_SECOND,
            root.text("pool").orElse(DEFAULT_POOL),
            seconds,
            warmUp);
    root.refuseIfWrong();
    return new Catalogue.Entry(
        preset,
        Callers.anybody().models(),
        (rate, seed) ->
            Objects.requireNonNull(traffic)
                .apply(new ArrivalTimes(gaps(rate, cv), Mix.random(seed, Part.ARRIVALS, 0)), seed));
  }

  private static Spread gaps(double rate, double cv) {
    return cv == 1 ? Spread.exponential(1 / rate) : Spread.gamma(1 / rate, cv);
  }

  private @Nullable BiFunction<ArrivalTimes, Long, Traffic> traffic(String kind) {
    return switch (kind) {
      case "sessions" -> sessions(root.object(kind));
      case "groups" -> groups(root.object(kind));
      case "requests" -> requests(root.object(kind));
      default -> null;
    };
  }

  private static BiFunction<ArrivalTimes, Long, Traffic> sessions(Fields fields) {
    fields.only(
        "sessions", List.of("system", "context", "question", "answer", "turns", "thinkSeconds"));
    Manner manner =
        new Manner(
            fields.whole("system", 0, 0),
            spread(fields, "context"),
            spread(fields, "question"),
            spread(fields, "answer"),
            spread(fields, "turns"),
            spread(fields, "thinkSeconds"));
    return (times, seed) -> new Sessions(times, n -> manner.begin(seed, n));
  }

  private static BiFunction<ArrivalTimes, Long, Traffic> groups(Fields fields) {
    fields.only("groups", List.of("count", "questions", "system", "question", "answer"));
    PrefixGroups groups =
        new PrefixGroups(
            fields.whole("count", null, 1),
            // Without a number a question is never asked again.
            fields.whole("questions", 1, 1),
            fields.whole("system", null, 0),
            spread(fields, "question"),
            spread(fields, "answer"));
    boolean again = fields.has("questions");
    return (times, seed) ->
        new OpenLoop(times, again ? groups.inRounds(seed) : groups.everNew(seed));
  }

  private static BiFunction<ArrivalTimes, Long, Traffic> requests(Fields fields) {
    fields.only("requests", List.of("system", "question", "answer"));
    Singles singles =
        new Singles(
            fields.whole("system", 0, 0),
            spread(fields, "question"),
            spread(fields, "answer"),
            Callers.anybody().draw());
    return (times, seed) -> new OpenLoop(times, singles.requests(seed));
  }

  /** A number, which is always the same, or how numbers are spread. */
  private static Spread spread(Fields of, String field) {
    if (!of.isObject(field)) {
      return Spread.fixed(of.positive(field, null));
    }
    Fields fields = of.object(field);
    String shape = fields.word("shape");
    if (shape.equals(EITHER)) {
      return either(fields);
    }
    List<String> needed = SHAPES.get(shape);
    if (needed == null) {
      fields.wrong(
          "shape",
          "is %s; set one of %s, or write a number in place of the whole"
              .formatted(
                  fields.shown("shape"),
                  Stream.concat(SHAPES.keySet().stream(), Stream.of(EITHER)).sorted().toList()));
      return Spread.fixed(1);
    }
    fields.only(
        "a " + shape,
        Stream.concat(
                Stream.concat(Stream.of("shape"), needed.stream()), Stream.of("least", "most"))
            .toList());
    double mean = fields.positive("mean", null);
    if (shape.equals("geometric") && mean < 1) {
      fields.wrong("mean", "is " + mean + "; set 1 or more, as the least of it is 1");
    }
    double sd = needed.contains("sd") ? fields.positive("sd", null) : 0;
    double least = fields.number("least", 0.0);
    double most = fields.number("most", Double.MAX_VALUE);
    if (!(least <= most)) {
      fields.wrong("most", "is " + most + "; set no less than least, " + least);
      return Spread.fixed(1);
    }
    Spread spread =
        switch (shape) {
          case "exponential" -> Spread.exponential(mean);
          case "geometric" -> Spread.geometric(mean);
          case "normal" -> Spread.normal(mean, sd);
          default -> Spread.logNormal(mean, sd);
        };
    return spread.clipped(least, most);
  }

  /** Two kinds of things, each spread in its own way. */
  private static Spread either(Fields fields) {
    fields.only("an either", List.of("shape", "usual", "rare", "share"));
    double share = fields.positive("share", null);
    if (share > 1) {
      fields.wrong("share", "is " + share + "; set the share of the rare ones, above 0 to 1");
    }
    return Spread.either(spread(fields, "usual"), spread(fields, "rare"), share);
  }
}
