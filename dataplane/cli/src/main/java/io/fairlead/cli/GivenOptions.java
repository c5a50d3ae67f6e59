package io.fairlead.cli;

import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** Which options a command line names, whatever their values. */
public final class GivenOptions {

  private GivenOptions() {}

  /**
   * Refuses options that would do nothing: who names one relies on it.
   *
   * @param why said after the option's name
   * @throws ParameterException if one of them is given
   */
  public static void refuse(CommandSpec spec, List<String> options, String why) {
    ParseResult given = spec.commandLine().getParseResult();
    for (String option : options) {
      if (given.hasMatchedOption(option)) {
        throw new ParameterException(spec.commandLine(), option + " " + why);
      }
    }
  }
}
