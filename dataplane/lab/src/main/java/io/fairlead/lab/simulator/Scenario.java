package io.fairlead.lab.simulator;

import io.fairlead.stub.profile.EngineProfiles;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * What happens in the course of a run, whatever the workload, the pool and the policy: a list of
 * events with their times.
 *
 * @param name in reports
 * @param summary what it is like, in a line; may be empty
 * @param entries its events, each once or again and again
 */
public record Scenario(String name, String summary, List<Entry> entries) {

  /** Nothing happens. */
  public static final Scenario NONE = new Scenario("", "", List.of());

  private static final List<String> NAMES =
      List.of(
          "slow-server",
          "new-server",
          "cold-server",
          "rolling-update",
          "scale",
          "from-zero",
          "caches-lost",
          "pickers-restart");

  private static final int MOST_TIMES = 10_000;

  public Scenario {
    entries = List.copyOf(entries);
  }

  /**
   * Events that belong together.
   *
   * @param events at their first time
   * @param every after how many seconds they happen again; infinite for once
   */
  public record Entry(List<ScenarioEvent> events, double every) {

    public Entry {
      events = List.copyOf(events);
      for (ScenarioEvent event : events) {
        double lasts = lasts(event);
        if (!(every > 0) || (Double.isFinite(every) && every <= lasts)) {
          throw new IllegalArgumentException(
              "every: is %s s; set more than the %s s that it lasts".formatted(every, lasts));
        }
      }
    }

    private static double lasts(ScenarioEvent event) {
      return switch (event) {
        case ServerEvent server -> server.kind().lasts() ? server.seconds() : 0;
        case PickerRestart restart -> restart.seconds();
        case ServersJoin _, PoolScale _ -> 0;
      };
    }
  }

  /** Names of the scenarios that ship, in the order of the documentation. */
  public static List<String> names() {
    return NAMES;
  }

  /**
   * A scenario that ships.
   *
   * @throws IllegalArgumentException if there is none of this name; the message lists them
   */
  public static Scenario named(String name) {
    if (!NAMES.contains(name)) {
      throw new IllegalArgumentException(
          "scenario: \"%s\" is neither a file nor one of %s"
              .formatted(name, String.join(", ", NAMES)));
    }
    String file = "scenarios/" + name + ".yaml";
    try (InputStream in = Scenario.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException(file + " is missing in the build");
      }
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return read(name, file, text, EngineProfiles.shipped());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * A scenario of the user's own: a YAML document.
   *
   * @param name in reports
   * @param origin where the text is from, for messages
   * @param profiles what servers that join may be
   * @throws IllegalArgumentException if it can't be read; a line per problem, with the field's path
   *     and what helps
   */
  public static Scenario read(String name, String origin, String text, EngineProfiles profiles) {
    return ScenarioDocument.read(name, origin, text, profiles);
  }

  /**
   * Events on a line, in the words of a document: {@code kind=fail-fast,server=2,at=10s,for=20s},
   * several of them parted by semicolons.
   *
   * @throws IllegalArgumentException as {@link #read}
   */
  public static Scenario line(String text) {
    return ScenarioDocument.line(text);
  }

  /**
   * All that happens in a run that is so long.
   *
   * @throws IllegalArgumentException if something happens too often
   */
  public List<ScenarioEvent> events(double runSeconds) {
    List<ScenarioEvent> all = new ArrayList<>();
    for (Entry entry : entries) {
      for (ScenarioEvent event : entry.events()) {
        if ((runSeconds - event.at()) / entry.every() > MOST_TIMES) {
          throw new IllegalArgumentException(
              "every: is %s s, more than %d times in a run; set more"
                  .formatted(entry.every(), MOST_TIMES));
        }
        all.add(event);
        for (double at = event.at() + entry.every(); at < runSeconds; at += entry.every()) {
          all.add(event.movedTo(at));
        }
      }
    }
    return all;
  }
}
