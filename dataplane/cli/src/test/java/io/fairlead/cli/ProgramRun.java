package io.fairlead.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.stream.Stream;

/** What the program said when it was run in this process. */
record ProgramRun(int exitCode, String out, String err) {

  static ProgramRun of(String command, String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode =
        Fairlead.commandLine()
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .execute(
                Stream.concat(Stream.of(command), Stream.of(arguments)).toArray(String[]::new));
    return new ProgramRun(exitCode, out.toString(), err.toString());
  }
}
