package io.fairlead.cli;

import java.io.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * What a progress bar is written to.
 *
 * @param redraws whether a line can be drawn over itself
 * @param columns its width
 */
record ProgressTerminal(boolean redraws, int columns) {

  private static final int USUAL_COLUMNS = 80;
  private static final int LEAST_COLUMNS = 20;

  /** No terminal: a file, a pipe, the log of a build. */
  static final ProgressTerminal NONE = new ProgressTerminal(false, USUAL_COLUMNS);

  ProgressTerminal {
    columns = Math.max(LEAST_COLUMNS, columns);
  }

  /** That of this process's stderr. */
  static ProgressTerminal ofStderr(Map<String, String> environment) {
    return isTerminal() && !"dumb".equals(environment.getOrDefault("TERM", "dumb"))
        ? new ProgressTerminal(true, columns(environment.getOrDefault("COLUMNS", "")))
        : NONE;
  }

  /**
   * The console of the JDK speaks of stdin and stdout: with results piped to a file it would not
   * see the terminal that stderr still is.
   */
  @SuppressWarnings("SystemConsoleNull") // true of JDK 22 to 24; 25 gives null without a terminal
  private static boolean isTerminal() {
    try {
      String device = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
      return device.startsWith("/dev/pts/") || device.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException e) {
      // No /proc, as on a Mac: the console is the second best.
      Console console = System.console();
      return console != null && console.isTerminal();
    }
  }

  private static int columns(String text) {
    return text.matches("[0-9]{1,4}") ? Integer.parseInt(text) : USUAL_COLUMNS;
  }
}
