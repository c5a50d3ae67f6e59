package io.fairlead.lab.faults;

import io.fairlead.lab.NamedArguments;
import java.nio.file.Path;
import java.util.ArrayList;
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
    var given = new NamedArguments(args);
    var ways = new LinkedHashMap<String, List<String>>();
    for (String way : given.all("--way")) {
      String[] parts = way.split("=", 2);
      if (parts.length < 2 || parts[0].isBlank() || parts[1].isBlank()) {
        throw new IllegalArgumentException("--way: expected NAME=COMMAND, got " + way);
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
            chosen(given.text("--faults"), phases.all()),
            phases,
            (long) given.number("--seed"),
            Path.of(given.text("--work")),
            Path.of(given.text("--report")));
    given.nothingElse();
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

  private static double positive(NamedArguments given, String name) {
    double value = given.number(name);
    if (!(value > 0)) {
      throw new IllegalArgumentException(name + " is " + value + "; set more than 0");
    }
    return value;
  }
}
