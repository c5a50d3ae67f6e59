package io.fairlead.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.OptionSpec;

/**
 * A flag of upstream's pickers that does nothing here.
 *
 * @param name with its dashes
 * @param takes what its value is
 * @param anyway the value that asks for what is done anyway, as text; null when there is none
 * @param said what is done instead, or what to use
 * @param refused whether it is an error, as it is upstream
 */
record UpstreamFlag(
    String name, Takes takes, @Nullable String anyway, String said, boolean refused) {

  /** What a flag's value is. */
  enum Takes {
    /** True or false, or nothing for true. */
    BOOLEAN,
    TEXT
  }

  static UpstreamFlag bool(String name, @Nullable Boolean anyway, String said) {
    return new UpstreamFlag(
        name, Takes.BOOLEAN, anyway == null ? null : anyway.toString(), said, false);
  }

  static UpstreamFlag text(String name, @Nullable String anyway, String said) {
    return new UpstreamFlag(name, Takes.TEXT, anyway, said, false);
  }

  static UpstreamFlag refused(String name, String said) {
    return new UpstreamFlag(name, Takes.TEXT, null, said, true);
  }

  /** Not shown by --help, as nobody should begin to use it. */
  OptionSpec option() {
    OptionSpec.Builder option = OptionSpec.builder(name).hidden(true).description(said);
    return switch (takes) {
      case BOOLEAN ->
          option
              .type(Boolean.class)
              .arity("0..1")
              .fallbackValue("true")
              .converters(new GoBoolean())
              .build();
      case TEXT -> option.type(String.class).arity("1").build();
    };
  }
}
