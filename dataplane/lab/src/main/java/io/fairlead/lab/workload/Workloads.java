package io.fairlead.lab.workload;

import java.util.List;
import java.util.OptionalDouble;
import java.util.function.LongFunction;
import java.util.stream.Collectors;

/** The workloads that ship, by name. */
public final class Workloads {

  private static final double MOST = 1e6;

  private Workloads() {}

  /**
   * How much of a workload.
   *
   * @param load in the unit of {@link Preset#unit()}, above 0; empty for the preset's own
   * @param factor times that, above 0
   */
  public record Options(OptionalDouble load, double factor) {

    /** As the preset says. */
    public static final Options DEFAULT = new Options(OptionalDouble.empty(), 1);

    public Options {
      if (load.isPresent()) {
        check("load", load.getAsDouble());
      }
      check("factor", factor);
    }

    /** Times the preset's own load. */
    public static Options times(double factor) {
      return new Options(OptionalDouble.empty(), factor);
    }

    private static void check(String field, double value) {
      if (!(value > 0 && value <= MOST)) {
        throw new IllegalArgumentException(
            "%s is %s; set above 0 to %.0f".formatted(field, value, MOST));
      }
    }
  }

  /** All that ship, in the order of the documentation. */
  public static List<Preset> presets() {
    return Catalogue.ENTRIES.stream().map(Catalogue.Entry::preset).toList();
  }

  /**
   * What ships under a name.
   *
   * @throws IllegalArgumentException if there is none of this name; the message lists them
   */
  public static Preset preset(String name) {
    return entry(name).preset();
  }

  /**
   * The workload of a name.
   *
   * @throws IllegalArgumentException if there is none of this name; the message lists them
   */
  public static Workload named(String name, Options options) {
    return workload(entry(name), options);
  }

  /**
   * A workload of the user's own, and what it is meant to run on.
   *
   * @param preset what is told of it
   * @param workload at its load times the factor
   */
  public record Own(Preset preset, Workload workload) {}

  /**
   * Reads a YAML document.
   *
   * @param name in reports
   * @param origin where the text is from, for messages
   * @param factor times the load that the document says, above 0
   * @throws IllegalArgumentException if it can't be read; a line per problem, with the field's path
   *     and what helps
   */
  public static Own read(String name, String origin, String text, double factor) {
    Catalogue.Entry entry = WorkloadDocument.read(name, origin, text);
    return new Own(entry.preset(), workload(entry, Options.times(factor)));
  }

  private static Workload workload(Catalogue.Entry entry, Options options) {
    double load = options.load().orElse(entry.preset().load()) * options.factor();
    return new Named(
        entry.preset().name(), entry.models(), seed -> entry.start().begin(load, seed));
  }

  private static Catalogue.Entry entry(String name) {
    return Catalogue.ENTRIES.stream()
        .filter(entry -> entry.preset().name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "workload: \"%s\" is none of %s"
                        .formatted(
                            name,
                            presets().stream()
                                .map(Preset::name)
                                .collect(Collectors.joining(", ")))));
  }

  private record Named(String name, List<ServedModel> models, LongFunction<Traffic> traffic)
      implements Workload {

    @Override
    public Traffic start(long seed) {
      return traffic.apply(seed);
    }
  }
}
