package io.fairlead.crds.testing;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * What {@code --help} says of commands, as parts of a page. Variables of the environment are the
 * lines of a command's footer, {@code NAME: what it says}.
 */
public final class CommandReference {
  private static final Pattern VARIABLE = Pattern.compile("([A-Z][A-Z0-9_]+): (.+)");
  private static final Pattern FROM_VARIABLE = Pattern.compile("\\$\\{env:(\\w+):-(.*)}");

  private CommandReference() {}

  /** Adds the command and all below it, but for hidden ones. */
  public static void add(GeneratedPage page, CommandLine command) {
    CommandSpec spec = command.getCommandSpec();
    if (spec.usageMessage().hidden()) {
      return;
    }
    page.section(spec.qualifiedName());
    for (String paragraph : spec.usageMessage().description()) {
      page.paragraph(GeneratedPage.prose(plain(paragraph)));
    }
    List<PositionalParamSpec> parameters =
        spec.positionalParameters().stream().filter(parameter -> !parameter.hidden()).toList();
    if (!parameters.isEmpty()) {
      page.table("argument", "default", "says");
      parameters.forEach(
          parameter -> row(page, parameter, GeneratedPage.code(parameter.paramLabel())));
    }
    List<OptionSpec> options =
        spec.options().stream().filter(option -> !option.hidden() && !isHelp(option)).toList();
    if (!options.isEmpty()) {
      page.table("option", "default", "says");
      options.forEach(option -> row(page, option, names(option)));
    }
    List<String> variables = variables(command);
    if (!variables.isEmpty()) {
      page.table("variable of the environment", "says");
      for (String variable : variables) {
        Matcher parts = VARIABLE.matcher(variable);
        if (parts.matches()) {
          page.row(GeneratedPage.code(parts.group(1)), GeneratedPage.prose(plain(parts.group(2))));
        }
      }
    }
    command.getSubcommands().values().forEach(below -> add(page, below));
  }

  /** The lines about variables of the environment. */
  private static List<String> variables(CommandLine command) {
    return Arrays.stream(command.getCommandSpec().usageMessage().footer())
        .filter(line -> VARIABLE.matcher(line).matches())
        .toList();
  }

  /** The variables that a command and those below it name, in their footers and defaults. */
  public static Stream<String> variableNames(CommandLine command) {
    return Stream.of(
            variables(command).stream().map(line -> line.split(":", 2)[0]),
            command.getCommandSpec().options().stream()
                .map(option -> FROM_VARIABLE.matcher(written(option)))
                .filter(Matcher::matches)
                .map(matcher -> matcher.group(1)),
            command.getSubcommands().values().stream().flatMap(CommandReference::variableNames))
        .flatMap(names -> names);
  }

  private static void row(GeneratedPage page, ArgSpec argument, String name) {
    String says = plain(String.join(" ", argument.description()));
    String preset = preset(argument);
    page.row(
        name + (argument.required() ? ", required" : ""),
        preset,
        GeneratedPage.prose(preset.isEmpty() ? says : says.replaceFirst(" ?Default: \\S+$", "")));
  }

  /** As it is typed; what a flag may say need not be. */
  private static String names(OptionSpec option) {
    String value =
        option.arity().max() == 0
            ? ""
            : option.arity().min() == 0
                ? "[=" + option.paramLabel() + "]"
                : "=" + option.paramLabel();
    List<String> names = new ArrayList<>();
    for (String name : option.names()) {
      names.add(GeneratedPage.code(name + (name.equals(option.longestName()) ? value : "")));
    }
    if (option.negatable()) {
      names.add(
          GeneratedPage.code(
              option
                  .command()
                  .negatableOptionTransformer()
                  .makeNegative(option.longestName(), option.command())));
    }
    return String.join(", ", names);
  }

  /** What counts where it is not given; nothing of what is off or empty then. */
  private static String preset(ArgSpec argument) {
    String preset = written(argument);
    if (preset.isEmpty()) {
      return "";
    }
    Matcher variable = FROM_VARIABLE.matcher(preset);
    return variable.matches()
        ? "`%s`, or what `%s` of the environment says"
            .formatted(variable.group(2), variable.group(1))
        : GeneratedPage.code(preset);
  }

  /** The default as the code has it: picocli itself tells what the environment makes of it. */
  private static String written(ArgSpec argument) {
    return argument.defaultValue() != null
            && argument.userObject() instanceof Field field
            && field.getAnnotation(CommandLine.Option.class) != null
        ? field.getAnnotation(CommandLine.Option.class).defaultValue()
        : "";
  }

  private static boolean isHelp(OptionSpec option) {
    return option.usageHelp() || option.versionHelp();
  }

  /** Without markup for terminals. */
  private static String plain(String line) {
    return CommandLine.Help.Ansi.OFF.string(line).replace("%%", "%");
  }
}
