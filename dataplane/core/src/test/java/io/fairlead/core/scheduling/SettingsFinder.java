package io.fairlead.core.scheduling;

import io.fairlead.core.scheduling.InvalidConfigException.Problem;
import io.fairlead.crds.config.PluginConfig;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds out which settings a plugin type takes by asking the compiler: it is given every name that
 * there is with a value that no setting takes, and names one setting after the other in what it
 * refuses.
 */
final class SettingsFinder {

  /** Neither number, flag, text, object nor a list of texts or of objects. */
  private static final Object PROBE = List.of(true);

  /** Stands for settings that have not been found; no setting is called so. */
  private static final String UNKNOWN = "?";

  /** The name of a profile is no value of a type's own. */
  private static final String PROFILE = "profile-of-the-finder";

  private static final Pattern WANTED = Pattern.compile(".*; set ([^;]*)", Pattern.DOTALL);
  private static final Pattern RANGE = Pattern.compile("a (whole )?number from (\\S+) to (\\S+)");
  private static final String PARAMETERS = "scheduler.plugins[0].parameters.";

  private final ConfigCompiler compiler = new ConfigCompiler(List.of());
  private final String type;
  private final Collection<String> names;

  /**
   * @param names every name that may be one of a setting
   */
  SettingsFinder(String type, Collection<String> names) {
    this.type = type;
    this.names = names;
  }

  /**
   * What a value may be.
   *
   * @param schema the keywords of a schema, in YAML's flow style
   * @param example one that is taken
   * @param choices the values that are taken, where they are few
   * @param fields of an object; null of anything else
   */
  private record Shape(
      String schema, Object example, List<Object> choices, @Nullable String fields) {}

  /** The schema of the type's parameters, in YAML's flow style. */
  String schema() {
    return object(values -> values, "");
  }

  /**
   * The settings of an object.
   *
   * @param shapes of those that were found
   * @param taken values that are taken together
   * @param refused those that were refused without telling what they may be
   */
  private record Found(Map<String, Shape> shapes, Map<String, Object> taken, Set<String> refused) {}

  /** The schema of an object, {@code wrapped} into the parameters that it is part of. */
  private String object(UnaryOperator<Map<String, Object>> wrapped, String prefix) {
    Found all = new Found(new TreeMap<>(), new LinkedHashMap<>(), new TreeSet<>());
    find(wrapped, prefix, Map.of(), all);
    Map<String, Object> taken = new LinkedHashMap<>(all.taken());
    Map<String, Shape> found = all.shapes();
    for (Map.Entry<String, Shape> field : new TreeMap<>(found).entrySet()) {
      for (Object choice : field.getValue().choices()) {
        find(wrapped, prefix, Map.of(field.getKey(), choice), all);
      }
    }
    StringBuilder text = new StringBuilder("{type: object");
    List<String> properties = new ArrayList<>();
    found.forEach(
        (name, shape) -> properties.add(name + ": " + nested(wrapped, prefix, taken, name, shape)));
    text.append(", properties: {").append(String.join(", ", properties)).append('}');
    // What is said of a setting that was never understood may depend on it: no name is refused.
    if (!found.keySet().containsAll(all.refused())) {
      text.append(", x-kubernetes-preserve-unknown-fields: true");
    }
    List<String> required =
        found.keySet().stream()
            .filter(name -> all.refused().isEmpty())
            .filter(name -> isRequired(wrapped, prefix, name, new Found(found, taken, Set.of())))
            .toList();
    if (!required.isEmpty()) {
      text.append(", required: [").append(String.join(", ", required)).append(']');
    }
    return text.append('}').toString();
  }

  /**
   * Gives every name a value that is refused, and settles one after the other.
   *
   * @param fixed settings that are given from the beginning
   * @param all what is found is added to
   */
  private void find(
      UnaryOperator<Map<String, Object>> wrapped,
      String prefix,
      Map<String, Object> fixed,
      Found all) {
    Map<String, Object> values = new LinkedHashMap<>();
    names.forEach(name -> values.put(name, PROBE));
    values.put(UNKNOWN, PROBE);
    values.putAll(fixed);
    Set<String> refused = new TreeSet<>();
    Set<String> filled = new TreeSet<>();
    for (Optional<Problem> problem = problem(wrapped.apply(values), prefix);
        problem.isPresent();
        problem = problem(wrapped.apply(values), prefix)) {
      String path = problem.get().path();
      String name = name(problem.get());
      Shape shape = shape(problem.get());
      Object value = values.remove(name);
      if (value == null) {
        // It is missed, and nothing that is tried here is taken for it.
        refused.add(UNKNOWN);
        break;
      }
      if (!path.equals(name) && !PROBE.equals(value)) {
        // Something in an object that was taken for whole.
        if (shape != null && filled.add(path)) {
          values.put(name, with(value, path.substring(name.length()), shape.example()));
        } else {
          refused.add(name);
        }
        continue;
      }
      // Only once it is a text does a setting say which ones it takes.
      if (shape != null && (PROBE.equals(value) || !shape.choices().isEmpty())) {
        all.shapes().merge(name, shape, (one, other) -> other.choices().isEmpty() ? one : other);
        if (!fixed.containsKey(name)) {
          values.put(name, shape.example());
        }
      } else if (!fixed.containsKey(name)) {
        refused.add(name);
      }
    }
    Set<String> unread = unread(wrapped.apply(values), prefix);
    if (unread.contains(UNKNOWN)) {
      values.forEach(
          (name, value) -> {
            if (PROBE.equals(value) && !unread.contains(name)) {
              all.shapes().put(name, new Shape("{}", "x", List.of(), null));
            }
          });
    } else if (fixed.isEmpty()) {
      refused.add(UNKNOWN);
    }
    values.values().removeIf(PROBE::equals);
    all.taken().putAll(values);
    for (String name : refused) {
      // Refused beside the others, perhaps not without them.
      problem(wrapped.apply(Map.of(name, PROBE)), prefix)
          .filter(is -> name(is).equals(name))
          .map(SettingsFinder::shape)
          .ifPresent(shape -> all.shapes().putIfAbsent(name, shape));
    }
    all.refused().addAll(refused);
  }

  /** A copy of an object, or of a list of one, with a value at a path. */
  private static Object with(Object into, String path, Object value) {
    if (path.isEmpty()) {
      return value;
    }
    if (path.startsWith("[0]")) {
      Object element = into instanceof List<?> list ? list.getFirst() : Map.of();
      return List.of(with(element, path.substring("[0]".length()), value));
    }
    Map<String, Object> object = new LinkedHashMap<>();
    if (into instanceof Map<?, ?> map) {
      map.forEach((key, old) -> object.put(String.valueOf(key), old));
    }
    Matcher field = Pattern.compile("\\.([A-Za-z0-9]+)(.*)").matcher(path);
    if (field.matches()) {
      String name = field.group(1);
      object.put(name, with(object.getOrDefault(name, Map.of()), field.group(2), value));
    }
    return object;
  }

  private static String name(Problem problem) {
    return problem.path().split("[.\\[]", 2)[0];
  }

  private String nested(
      UnaryOperator<Map<String, Object>> wrapped,
      String prefix,
      Map<String, Object> taken,
      String name,
      Shape shape) {
    if (shape.fields() == null) {
      return shape.schema();
    }
    boolean list = shape.fields().equals("[0].");
    String inner =
        object(
            value -> {
              Map<String, Object> outer = new LinkedHashMap<>(taken);
              outer.put(name, list ? List.of(value) : value);
              return wrapped.apply(outer);
            },
            prefix + name + shape.fields());
    return list ? "{type: array, items: " + inner + "}" : inner;
  }

  /** Whether it is missed beside all the others and beside those alone that are missed as well. */
  private boolean isRequired(
      UnaryOperator<Map<String, Object>> wrapped, String prefix, String name, Found found) {
    Map<String, Object> most = new LinkedHashMap<>(found.taken());
    most.remove(name);
    if (problem(wrapped.apply(most), prefix).filter(is -> is.path().equals(name)).isEmpty()) {
      return false;
    }
    Map<String, Object> least = new LinkedHashMap<>();
    while (true) {
      Optional<Problem> problem = problem(wrapped.apply(least), prefix);
      String missed = problem.map(SettingsFinder::name).orElse("");
      Shape shape = found.shapes().get(missed);
      if (missed.equals(name)
          || shape == null
          || !shape.choices().isEmpty()
          || least.containsKey(missed)) {
        return missed.equals(name);
      }
      least.put(missed, shape.example());
    }
  }

  /** The names below {@code prefix} that nobody asked for; empty where nobody got as far. */
  private Set<String> unread(Map<String, Object> parameters, String prefix) {
    return problems(parameters)
        .filter(is -> is.path().startsWith(PARAMETERS + prefix))
        .filter(is -> is.message().startsWith("is not a setting of "))
        .map(is -> is.path().substring((PARAMETERS + prefix).length()))
        .collect(Collectors.toSet());
  }

  /** The first problem below {@code prefix} that is not about a name that nobody knows. */
  private Optional<Problem> problem(Map<String, Object> parameters, String prefix) {
    return problems(parameters)
        .filter(is -> is.path().startsWith(PARAMETERS + prefix))
        .filter(is -> !is.message().startsWith("is not a setting of "))
        .map(is -> new Problem(is.path().substring((PARAMETERS + prefix).length()), is.message()))
        .findFirst();
  }

  private Stream<Problem> problems(Map<String, Object> parameters) {
    try {
      compiler.compile(
          Documents.pool(
              List.of(new PluginConfig("p", type, parameters)),
              List.of(Documents.profile(PROFILE)),
              null));
      return Stream.empty();
    } catch (InvalidConfigException e) {
      return e.problems().stream();
    }
  }

  private static @Nullable Shape shape(Problem problem) {
    Matcher wanted = WANTED.matcher(problem.message());
    if (!wanted.matches()) {
      return null;
    }
    boolean element = problem.path().endsWith("[0]");
    String text = wanted.group(1);
    Matcher range = RANGE.matcher(text);
    if (range.matches()) {
      boolean whole = range.group(1) != null;
      BigDecimal least = new BigDecimal(range.group(2));
      return new Shape(
          "{type: %s, minimum: %s, maximum: %s}"
              .formatted(whole ? "integer" : "number", plain(least), plain(range.group(3))),
          whole ? (Object) least.longValue() : (Object) least.doubleValue(),
          List.of(),
          null);
    }
    if (text.startsWith("one of ") && text.contains(PROFILE)) {
      return new Shape("{type: string}", PROFILE, List.of(), null);
    }
    if (text.startsWith("one of ")) {
      List<Object> choices = List.of((Object[]) text.substring("one of ".length()).split(", "));
      return new Shape(
          "{type: string, enum: [" + text.substring("one of ".length()) + "]}",
          choices.getFirst(),
          choices,
          null);
    }
    return switch (text) {
      case "true or false" -> new Shape("{type: boolean}", true, List.of(true, false), null);
      case "a text" ->
          element
              ? new Shape("{type: array, items: {type: string}}", List.of("x"), List.of(), null)
              : new Shape("{type: string}", "x", List.of(), null);
      case "an object of texts" ->
          new Shape(
              "{type: object, additionalProperties: {type: string}}",
              Map.of("x", "y"),
              List.of(),
              null);
      case "an object" ->
          element
              ? new Shape("", List.of(Map.of()), List.of(), "[0].")
              : new Shape("", Map.of(), List.of(), ".");
      default -> null;
    };
  }

  private static String plain(String number) {
    return plain(new BigDecimal(number));
  }

  private static String plain(BigDecimal number) {
    return number.signum() == 0 ? "0" : number.stripTrailingZeros().toPlainString();
  }
}
