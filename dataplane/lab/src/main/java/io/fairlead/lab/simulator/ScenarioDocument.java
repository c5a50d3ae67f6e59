package io.fairlead.lab.simulator;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.document.FieldPath;
import io.fairlead.crds.document.SourceTree;
import io.fairlead.lab.document.Fields;
import io.fairlead.lab.simulator.Scenario.Entry;
import io.fairlead.lab.simulator.ServerEvent.Kind;
import io.fairlead.stub.engine.EngineProfile;
import io.fairlead.stub.profile.EngineProfiles;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads scenarios. */
final class ScenarioDocument {

  private static final String JOIN = "join";
  private static final String SCALE = "scale";
  private static final String RESTART_PICKER = "restart-picker";
  private static final Pattern RANGE = Pattern.compile("([0-9]{1,5})(?:-([0-9]{1,5}))?");
  private static final Pattern NUMBER = Pattern.compile("-?[0-9]{1,9}(\\.[0-9]{1,9})?");
  private static final int MOST_SERVERS = 10_000;
  private static final double FOR_EVER = Double.POSITIVE_INFINITY;

  private final EngineProfiles profiles;

  private ScenarioDocument(EngineProfiles profiles) {
    this.profiles = profiles;
  }

  static Scenario read(String name, String origin, String text, EngineProfiles profiles) {
    return new ScenarioDocument(profiles).scenario(name, Fields.of(origin, text));
  }

  static Scenario line(String text) {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    ArrayNode events = root.putArray("events");
    for (String event : text.split(";", -1)) {
      fields(event, events.addObject());
    }
    Fields fields = Fields.of(SourceTree.of("scenario", root));
    return new ScenarioDocument(EngineProfiles.shipped()).scenario(text, fields);
  }

  private static void fields(String event, ObjectNode into) {
    for (String part : event.split(",", -1)) {
      String[] pair = part.split("=", 2);
      if (pair.length < 2 || pair[0].isBlank() || pair[1].isBlank()) {
        throw new IllegalArgumentException(
            "scenario: \"%s\" is not NAME=VALUE, as in kind=fail-fast,server=2,at=10s,for=20s"
                .formatted(part));
      }
      String name = pair[0].strip();
      String value = pair[1].strip();
      if (into.has(name)) {
        throw new IllegalArgumentException(
            "scenario: \"%s\" has %s twice; once is enough".formatted(event, name));
      }
      if (NUMBER.matcher(value).matches()) {
        into.put(name, Double.parseDouble(value));
      } else {
        into.put(name, value);
      }
    }
  }

  private Scenario scenario(String name, Fields root) {
    root.only("a scenario", List.of("summary", "events"));
    String summary = root.text("summary").orElse("");
    List<Entry> entries = new ArrayList<>();
    for (Fields event : root.list("events", "{kind: slow, server: 0, factor: 3, at: 60s}")) {
      entry(event).ifPresent(entries::add);
    }
    root.refuseIfWrong();
    return new Scenario(name, summary, entries);
  }

  private Optional<Entry> entry(Fields fields) {
    if (fields.wrong()) {
      return Optional.empty();
    }
    Optional<List<ScenarioEvent>> events =
        switch (fields.word("kind")) {
          case JOIN -> join(fields);
          case SCALE -> scale(fields);
          case RESTART_PICKER -> restartPicker(fields);
          default -> ofServers(fields);
        };
    double every = fields.seconds("every", FOR_EVER);
    return events.flatMap(each -> fields.made(() -> new Entry(each, every)));
  }

  private Optional<List<ScenarioEvent>> join(Fields fields) {
    fields.only("a join", List.of("kind", "at", "count", "engine", "firstRequest"));
    double at = fields.seconds("at", 0.0);
    int count = fields.whole("count", 1, 1);
    EngineProfile engine = engine(fields);
    double first = fields.seconds("firstRequest", 0.0);
    return fields.made(() -> List.of(new ServersJoin(at, count, engine, first)));
  }

  private Optional<List<ScenarioEvent>> scale(Fields fields) {
    fields.only("a scale", List.of("kind", "at", "servers", "engine", "firstRequest"));
    double at = fields.seconds("at", 0.0);
    int servers = fields.whole("servers", null, 0);
    EngineProfile engine = engine(fields);
    double first = fields.seconds("firstRequest", 0.0);
    return fields.made(() -> List.of(new PoolScale(at, servers, engine, first)));
  }

  private static Optional<List<ScenarioEvent>> restartPicker(Fields fields) {
    fields.only("a restart-picker", List.of("kind", "picker", "at", "for", "every"));
    double at = fields.seconds("at", 0.0);
    int picker = fields.whole("picker", null, 0);
    double lasts = fields.seconds("for", 0.0);
    return fields.made(() -> List.of(new PickerRestart(picker, at, lasts)));
  }

  private static Optional<List<ScenarioEvent>> ofServers(Fields fields) {
    Kind kind = kind(fields);
    if (kind == null) {
      return Optional.empty();
    }
    Stream<String> lasting = kind.lasts() ? Stream.of("for", "every") : Stream.of("every");
    fields.only(
        "a " + kind.word(),
        Stream.of(Stream.of("kind", "server", "at"), lasting, kind.amountField().stream())
            .flatMap(each -> each)
            .toList());
    int[] servers = servers(fields);
    double at = fields.seconds("at", 0.0);
    double lasts = fields.seconds("for", kind.lasts() ? FOR_EVER : 0);
    double usual = kind.of(0, 0, 0).amount();
    double amount = kind.amountField().map(field -> amount(fields, kind, field)).orElse(usual);
    return fields.made(
        () ->
            Arrays.stream(servers)
                .<ScenarioEvent>mapToObj(server -> kind.of(server, at, lasts, amount))
                .toList());
  }

  private static double amount(Fields fields, Kind kind, String field) {
    double usual = kind.of(0, 0, 0).amount();
    return kind == Kind.FAIL_LATE ? fields.seconds(field, usual) : fields.number(field, usual);
  }

  private static @Nullable Kind kind(Fields fields) {
    for (Kind kind : Kind.values()) {
      if (kind.word().equals(fields.word("kind"))) {
        return kind;
      }
    }
    String known =
        Stream.concat(
                Arrays.stream(Kind.values()).map(Kind::word),
                Stream.of(JOIN, SCALE, RESTART_PICKER))
            .collect(Collectors.joining(", "));
    fields.wrong("kind", "is " + fields.shown("kind") + "; set one of " + known);
    return null;
  }

  /** One by its number, or several as in {@code 0-3}. */
  private static int[] servers(Fields fields) {
    Matcher parts = RANGE.matcher(fields.word("server"));
    if (parts.matches()) {
      int first = Integer.parseInt(parts.group(1));
      int last = parts.group(2) == null ? first : Integer.parseInt(parts.group(2));
      if (first <= last && last < MOST_SERVERS) {
        return IntStream.rangeClosed(first, last).toArray();
      }
    }
    fields.wrong(
        "server",
        "is " + fields.shown("server") + "; set a number from 0 on, or several as in 0-3");
    return new int[0];
  }

  private @Nullable EngineProfile engine(Fields fields) {
    String name = fields.text("engine").orElse("");
    if (name.isEmpty()) {
      return null;
    }
    try {
      return PoolSpec.parse("1x" + name, profiles).engines().getFirst();
    } catch (IllegalArgumentException e) {
      fields.wrong(
          "engine",
          "is %s; set one of %s, perhaps slowed as in NAME*1.4"
              .formatted(FieldPath.quote(name), String.join(", ", profiles.names())));
      return null;
    }
  }
}
