package io.fairlead.lab.simulator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.document.FieldPath;
import io.fairlead.crds.document.SourceTree;
import io.fairlead.lab.simulator.Scenario.Entry;
import io.fairlead.lab.simulator.ServerEvent.Kind;
import io.fairlead.stub.engine.EngineProfile;
import io.fairlead.stub.profile.EngineProfiles;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads scenarios strictly: what it doesn't know, it refuses, all problems at once. */
final class ScenarioDocument {

  private static final String JOIN = "join";
  private static final String SCALE = "scale";
  private static final String RESTART_PICKER = "restart-picker";
  private static final Pattern RANGE = Pattern.compile("([0-9]{1,5})(?:-([0-9]{1,5}))?");
  private static final Pattern NUMBER = Pattern.compile("-?[0-9]{1,9}(\\.[0-9]{1,9})?");
  private static final Pattern DURATION = Pattern.compile("([0-9]{1,9}(?:\\.[0-9]{1,9})?)(ms|s|m)");
  private static final int MOST_SERVERS = 10_000;
  private static final double FOR_EVER = Double.POSITIVE_INFINITY;

  private final SourceTree tree;
  private final EngineProfiles profiles;

  private ScenarioDocument(SourceTree tree, EngineProfiles profiles) {
    this.tree = tree;
    this.profiles = profiles;
  }

  static Scenario read(String name, String origin, String text, EngineProfiles profiles) {
    SourceTree tree = SourceTree.parseOne(origin, text);
    return new ScenarioDocument(tree, profiles).scenario(name);
  }

  static Scenario line(String text) {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    ArrayNode events = root.putArray("events");
    for (String event : text.split(";", -1)) {
      fields(event, events.addObject());
    }
    SourceTree tree = SourceTree.of("scenario", root);
    return new ScenarioDocument(tree, EngineProfiles.shipped()).scenario(text);
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

  private Scenario scenario(String name) {
    JsonNode root = tree.root();
    List<Entry> entries = new ArrayList<>();
    String summary = "";
    if (tree.errors().isEmpty() && object(FieldPath.ROOT, root, "a scenario")) {
      known(FieldPath.ROOT, root, "a scenario", List.of("summary", "events"));
      summary = text(FieldPath.ROOT, root, "summary").orElse("");
      JsonNode events = root.path("events");
      FieldPath path = FieldPath.ROOT.field("events");
      if (!events.isArray() || events.isEmpty()) {
        tree.error(
            path,
            (events.isMissingNode() ? "is missing" : "is not a list of events")
                + "; set one or more, as in [{kind: slow, server: 0, factor: 3, at: 60s}]");
      }
      for (int i = 0; i < events.size() && events.isArray(); i++) {
        entry(path.element(i), events.get(i)).ifPresent(entries::add);
      }
    }
    if (!tree.errors().isEmpty()) {
      throw new IllegalArgumentException(
          tree.errors().stream().map(Object::toString).collect(Collectors.joining("\n")));
    }
    return new Scenario(name, summary, entries);
  }

  private Optional<Entry> entry(FieldPath path, JsonNode node) {
    if (!object(path, node, "an event")) {
      return Optional.empty();
    }
    int before = tree.errors().size();
    String word = node.path("kind").asText("");
    Optional<List<ScenarioEvent>> events =
        switch (word) {
          case JOIN -> join(path, node);
          case SCALE -> scale(path, node);
          case RESTART_PICKER -> restartPicker(path, node);
          default -> ofServers(path, node);
        };
    double every = seconds(path, node, "every", FOR_EVER);
    if (tree.errors().size() > before) {
      return Optional.empty();
    }
    return events.flatMap(each -> checked(path, () -> new Entry(each, every)));
  }

  private Optional<List<ScenarioEvent>> join(FieldPath path, JsonNode node) {
    known(path, node, "a join", List.of("kind", "at", "count", "engine", "firstRequest"));
    double at = seconds(path, node, "at", 0);
    int count = whole(path, node, "count", 1, 1);
    Optional<EngineProfile> engine = engine(path, node);
    double first = seconds(path, node, "firstRequest", 0);
    return checked(path, () -> List.of(new ServersJoin(at, count, engine.orElse(null), first)));
  }

  private Optional<List<ScenarioEvent>> scale(FieldPath path, JsonNode node) {
    known(path, node, "a scale", List.of("kind", "at", "servers", "engine", "firstRequest"));
    double at = seconds(path, node, "at", 0);
    int servers = whole(path, node, "servers", null, 0);
    Optional<EngineProfile> engine = engine(path, node);
    double first = seconds(path, node, "firstRequest", 0);
    return checked(path, () -> List.of(new PoolScale(at, servers, engine.orElse(null), first)));
  }

  private Optional<List<ScenarioEvent>> restartPicker(FieldPath path, JsonNode node) {
    known(path, node, "a restart-picker", List.of("kind", "picker", "at", "for", "every"));
    double at = seconds(path, node, "at", 0);
    int picker = whole(path, node, "picker", null, 0);
    double lasts = seconds(path, node, "for", 0);
    return checked(path, () -> List.of(new PickerRestart(picker, at, lasts)));
  }

  private Optional<List<ScenarioEvent>> ofServers(FieldPath path, JsonNode node) {
    Kind kind = kind(path, node);
    if (kind == null) {
      return Optional.empty();
    }
    Stream<String> lasting = kind.lasts() ? Stream.of("for") : Stream.empty();
    List<String> fields =
        Stream.of(
                Stream.of("kind", "server", "at"),
                lasting,
                Stream.of("every"),
                kind.amountField().stream())
            .flatMap(each -> each)
            .toList();
    known(path, node, "a " + kind.word(), fields);
    int[] servers = servers(path, node);
    double at = seconds(path, node, "at", 0);
    double lasts = seconds(path, node, "for", kind.lasts() ? FOR_EVER : 0);
    double usual = kind.of(0, 0, 0).amount();
    double amount =
        kind.amountField().map(field -> amount(path, node, kind, field, usual)).orElse(usual);
    return checked(
        path,
        () ->
            Arrays.stream(servers)
                .<ScenarioEvent>mapToObj(server -> kind.of(server, at, lasts, amount))
                .toList());
  }

  private double amount(FieldPath path, JsonNode node, Kind kind, String field, double usual) {
    if (kind == Kind.FAIL_LATE) {
      return seconds(path, node, field, usual);
    }
    JsonNode value = node.path(field);
    if (value.isMissingNode()) {
      return usual;
    }
    if (!value.isNumber()) {
      tree.error(
          path.field(field), "is " + shown(value) + "; set a number, as in " + field + ": 0.5");
      return usual;
    }
    return value.doubleValue();
  }

  private @Nullable Kind kind(FieldPath path, JsonNode node) {
    JsonNode word = node.path("kind");
    for (Kind kind : Kind.values()) {
      if (kind.word().equals(word.asText())) {
        return kind;
      }
    }
    String known =
        Stream.concat(
                Arrays.stream(Kind.values()).map(Kind::word),
                Stream.of(JOIN, SCALE, RESTART_PICKER))
            .collect(Collectors.joining(", "));
    tree.error(path.field("kind"), "is " + shown(word) + "; set one of " + known);
    return null;
  }

  /** One by its number, or several as in {@code 0-3}. */
  private int[] servers(FieldPath path, JsonNode node) {
    JsonNode value = node.path("server");
    String text = value.isNumber() && isWhole(value) ? value.asInt() + "" : value.asText();
    Matcher parts = RANGE.matcher(text);
    if (parts.matches()) {
      int first = Integer.parseInt(parts.group(1));
      int last = parts.group(2) == null ? first : Integer.parseInt(parts.group(2));
      if (first <= last && last < MOST_SERVERS) {
        return IntStream.rangeClosed(first, last).toArray();
      }
    }
    tree.error(
        path.field("server"),
        "is " + shown(value) + "; set a number from 0 on, or several as in 0-3");
    return new int[0];
  }

  private Optional<EngineProfile> engine(FieldPath path, JsonNode node) {
    return text(path, node, "engine")
        .flatMap(
            name -> {
              try {
                return Optional.of(PoolSpec.parse("1x" + name, profiles).engines().getFirst());
              } catch (IllegalArgumentException e) {
                tree.error(
                    path.field("engine"),
                    "is %s; set one of %s, perhaps slowed as in NAME*1.4"
                        .formatted(FieldPath.quote(name), String.join(", ", profiles.names())));
                return Optional.empty();
              }
            });
  }

  private boolean object(FieldPath path, JsonNode node, String what) {
    if (!node.isObject()) {
      tree.error(path, "is not " + what + "; write its fields, as in kind: slow");
      return false;
    }
    return true;
  }

  private void known(FieldPath path, JsonNode node, String what, List<String> fields) {
    for (var field : node.properties()) {
      if (!fields.contains(field.getKey())) {
        tree.error(
            path.field(field.getKey()),
            "is no field of %s; it has %s".formatted(what, String.join(", ", fields)));
      }
    }
  }

  private Optional<String> text(FieldPath path, JsonNode node, String field) {
    JsonNode value = node.path(field);
    if (value.isMissingNode()) {
      return Optional.empty();
    }
    if (!value.isTextual() || value.textValue().isBlank()) {
      tree.error(path.field(field), "is " + shown(value) + "; set a text, or leave it out");
      return Optional.empty();
    }
    return Optional.of(value.textValue());
  }

  private int whole(
      FieldPath path, JsonNode node, String field, @Nullable Integer usual, int least) {
    JsonNode value = node.path(field);
    if (value.isMissingNode() && usual != null) {
      return usual;
    }
    if (value.isNumber() && isWhole(value) && value.intValue() >= least) {
      return value.intValue();
    }
    tree.error(
        path.field(field), "is " + shown(value) + "; set a whole number from " + least + " on");
    return least;
  }

  private static boolean isWhole(JsonNode value) {
    double number = value.doubleValue();
    return number == Math.rint(number) && Math.abs(number) <= Integer.MAX_VALUE;
  }

  private double seconds(FieldPath path, JsonNode node, String field, double usual) {
    JsonNode value = node.path(field);
    if (value.isMissingNode()) {
      return usual;
    }
    Matcher parts = DURATION.matcher(value.isTextual() ? value.textValue() : "");
    if (parts.matches()) {
      return Double.parseDouble(parts.group(1)) * unit(parts.group(2));
    }
    tree.error(path.field(field), "is " + shown(value) + "; set a time, as in 10s, 500ms or 2m");
    return usual;
  }

  private static double unit(String letters) {
    return switch (letters) {
      case "ms" -> 1e-3;
      case "m" -> 60;
      default -> 1;
    };
  }

  private static String shown(JsonNode value) {
    return value.isMissingNode()
        ? "missing"
        : value.isTextual()
            ? FieldPath.quote(value.textValue())
            : FieldPath.quote(value.toString());
  }

  /** What a value's own checks refuse is told at the field that their message begins with. */
  private <T> Optional<T> checked(FieldPath path, Supplier<T> made) {
    try {
      return Optional.of(made.get());
    } catch (IllegalArgumentException e) {
      String[] told = String.valueOf(e.getMessage()).split(": ", 2);
      tree.error(path.field(told[0]), told[1]);
      return Optional.empty();
    }
  }
}
