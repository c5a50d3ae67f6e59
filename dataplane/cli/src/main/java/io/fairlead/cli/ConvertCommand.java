package io.fairlead.cli;

import io.fairlead.crds.convert.Converted;
import io.fairlead.crds.convert.Converter;
import io.fairlead.crds.convert.Direction;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Converts manifests between the generations of the inference kinds. */
@Command(
    name = "convert",
    description = {
      "Turns InferencePool v1alpha2 into v1 and InferenceModel into InferenceObjective and"
          + " InferenceModelRewrite, or back. Prints the objects; what is lost is told on standard"
          + " error, by field. All else goes through as it is.",
      "Exits with 0; with 1 when something could not be converted, which is printed as it was, or"
          + " with --strict when something was lost."
    },
    mixinStandardHelpOptions = true)
final class ConvertCommand implements Callable<Integer> {

  private static final Set<String> GROUPS = Set.of("inference.networking.x-k8s.io", "llm-d.ai");

  @Parameters(
      paramLabel = "FILE",
      description = "YAML or JSON, of any number of documents; - or none for standard input.")
  private List<Path> files = List.of();

  @Option(
      names = "--to",
      paramLabel = "new|old",
      converter = ToDirection.class,
      defaultValue = "new",
      description = "Which generation is wanted. Default: ${DEFAULT-VALUE}")
  private Direction to = Direction.NEW;

  @Option(
      names = "--kinds",
      paramLabel = "KIND",
      split = ",",
      description =
          "Convert these kinds only: InferencePool, InferenceModel, InferenceObjective,"
              + " InferenceModelRewrite. Default: all")
  private Set<String> kinds = new LinkedHashSet<>(Converter.KINDS);

  @Option(
      names = "--group",
      paramLabel = "GROUP",
      description =
          "Group of InferenceObjectives and InferenceModelRewrites: inference.networking.x-k8s.io"
              + " or llm-d.ai. Default: as they are, new ones in the former")
  private @Nullable String group;

  @Option(names = "--strict", description = "Fail when something is lost.")
  private boolean strict;

  @Spec private CommandSpec spec = CommandSpec.create();

  ConvertCommand() {}

  @Override
  public Integer call() throws IOException {
    for (String kind : kinds) {
      if (!Converter.KINDS.contains(kind)) {
        throw new ParameterException(
            spec.commandLine(),
            "--kinds: %s is none of %s".formatted(kind, String.join(", ", Converter.KINDS)));
      }
    }
    if (group != null && !GROUPS.contains(group)) {
      throw new ParameterException(
          spec.commandLine(),
          "--group: %s is neither inference.networking.x-k8s.io nor llm-d.ai".formatted(group));
    }
    Converted converted = new Converter(to, kinds, group).convert(read());
    spec.commandLine().getOut().print(converted.text());
    spec.commandLine().getOut().flush();
    PrintWriter err = spec.commandLine().getErr();
    converted.lost().forEach(lost -> err.println(ShownText.line("lost: " + lost)));
    converted.failed().forEach(failed -> err.println(ShownText.line("not converted: " + failed)));
    err.flush();
    return converted.failed().isEmpty() && !(strict && !converted.lost().isEmpty()) ? 0 : 1;
  }

  /** Reads a direction as people write it. */
  static final class ToDirection implements ITypeConverter<Direction> {
    @Override
    public Direction convert(String value) {
      return switch (value) {
        case "new" -> Direction.NEW;
        case "old" -> Direction.OLD;
        default -> throw new TypeConversionException("is " + value + ", expected new or old");
      };
    }
  }

  private Map<String, String> read() throws IOException {
    Map<String, String> texts = new LinkedHashMap<>();
    for (Path file : files.isEmpty() ? List.of(Path.of("-")) : files) {
      texts.put(InputText.name(file), InputText.read(file));
    }
    return texts;
  }
}
