package io.fairlead.lab.faults;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What to try, from arguments {@code --name value}, all of them needed.
 *
 * @param ways {@code --way NAME=COMMAND}, several times: a program of a way, see {@link
 *     CommandWay}; those of one name are started in order
 * @param scenarios {@code --faults NAME,NAME...}, or {@code all}
 * @param phases {@code --rate}, {@code --before}, {@code --during}, {@code --after}, see {@link
 *     Scenarios}
 * @param seed {@code --seed}: the same seed gives the same requests
 * @param work {@code --work}: an empty folder
 * @param report {@code --report}: the JSON file to write; the table goes beside it, in Markdown
 */
record FaultsOptions(
    Map<String, List<String>> ways,
    List<Scenario> scenarios,
    Scenarios phases,
    long seed,
    Path work,
    Path report) {

  static FaultsOptions parse(String... args) {
    var given = new HashMap<String, String>();
    var ways = new LinkedHashMap<String, List<String>>();
    for (int i = 0; i < args.length; i += 2) {
      if (!args[i].startsWith("--") || i + 1 == args.length) {
        throw new IllegalArgumentException("expected --name value, got " + args[i]);
      }
      if (!args[i].equals("--way")) {
        given.put(args[i], args[i + 1]);
        continue;
      }
      String[] parts = args[i + 1].split("=", 2);
      if (parts.length < 2 || parts[0].isBlank() || parts[1].isBlank()) {
        throw new IllegalArgumentException("--way: expected NAME=COMMAND, got " + args[i + 1]);
      }
      ways.computeIfAbsent(parts[0], name -> new ArrayList<>()).add(parts[1]);
    }
    if (ways.isEmpty()) {
      throw new IllegalArgumentException("--way is missing");
    }
    var phases =
        new Scenarios(
            positive(given, "--rate"),
            positive(given, "--before"),
            positive(given, "--during"),
            positive(given, "--after"));
    var options =
        new FaultsOptions(
            ways,
            chosen(take(given, "--faults"), phases.all()),
            phases,
            (long) number(given, "--seed"),
            Path.of(take(given, "--work")),
            Path.of(take(given, "--report")));
    if (!given.isEmpty()) {
      throw new IllegalArgumentException("unknown: " + given.keySet());
    }
    return options;
  }

  private static List<Scenario> chosen(String names, List<Scenario> all) {
    if (names.equals("all")) {
      return all;
    }
    List<Scenario> chosen = new ArrayList<>();
    for (String name : names.split(",", -1)) {
      chosen.add(
          all.stream()
              .filter(scenario -> scenario.name().equals(name))
              .findFirst()
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "--faults: no \"%s\"; there are all, %s"
                              .formatted(
                                  name,
                                  String.join(", ", all.stream().map(Scenario::name).toList())))));
    }
    return chosen;
  }

  private static String take(Map<String, String> given, String name) {
    String value = given.remove(name);
    if (value == null) {
      throw new IllegalArgumentException(name + " is missing");
    }
    return value;
  }

  private static double positive(Map<String, String> given, String name) {
    double value = number(given, name);
    if (!(value > 0)) {
      throw new IllegalArgumentException(name + " is " + value + "; set more than 0");
    }
    return value;
  }

  private static double number(Map<String, String> given, String name) {
    String value = take(given, name);
    try {
      return Double.parseDouble(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + " must be a number, not " + value, e);
    }
  }
}
