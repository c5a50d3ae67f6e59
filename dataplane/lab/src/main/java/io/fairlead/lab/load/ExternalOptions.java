package io.fairlead.lab.load;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What {@link ExternalRun} is to do.
 *
 * @param ways one after another in each round
 * @param seconds of each turn
 * @param rounds how often the ways take turns
 * @param endpoints of the pool
 * @param report where the report goes
 */
record ExternalOptions(List<Way> ways, int seconds, int rounds, int endpoints, Path report) {

  /**
   * A way to decide, and how often.
   *
   * @param name for people
   * @param address of an external scheduler; empty for the built-in one alone
   * @param rate requests a second
   * @param process id of the scheduler's process; 0 for the built-in one
   */
  record Way(String name, String address, int rate, long process) {}

  /**
   * Reads {@code --seconds N --rounds N --endpoints N --report FILE NAME=ADDRESS@RATE/PID...}.
   *
   * @throws IllegalArgumentException if they are none
   */
  static ExternalOptions parse(String[] args) {
    int seconds = 5;
    int rounds = 3;
    int endpoints = 16;
    String report = "";
    List<Way> ways = new ArrayList<>();
    for (int i = 0; i < args.length; i++) {
      String arg = args[i];
      if (!arg.startsWith("--")) {
        ways.add(way(arg));
        continue;
      }
      if (i + 1 == args.length) {
        throw new IllegalArgumentException(arg + " needs a value");
      }
      String value = args[++i];
      switch (arg) {
        case "--seconds" -> seconds = number(arg, value);
        case "--rounds" -> rounds = number(arg, value);
        case "--endpoints" -> endpoints = number(arg, value);
        case "--report" -> report = value;
        default -> throw new IllegalArgumentException("unknown option " + arg);
      }
    }
    if (report.isEmpty() || ways.isEmpty()) {
      throw new IllegalArgumentException("give --report FILE, and ways as NAME=ADDRESS@RATE/PID");
    }
    return new ExternalOptions(List.copyOf(ways), seconds, rounds, endpoints, Path.of(report));
  }

  private static Way way(String text) {
    int name = text.indexOf('=');
    int rate = text.lastIndexOf('@');
    int slash = text.indexOf('/', Math.max(rate, 0));
    int process = slash < 0 ? text.length() : slash;
    if (name < 1 || rate < name) {
      throw new IllegalArgumentException(text + " is no way; give NAME=ADDRESS@RATE/PID");
    }
    return new Way(
        text.substring(0, name),
        text.substring(name + 1, rate),
        number(text, text.substring(rate + 1, process)),
        process == text.length() ? 0 : number(text, text.substring(process + 1)));
  }

  private static int number(String of, String text) {
    try {
      int number = Integer.parseInt(text);
      if (number > 0) {
        return number;
      }
    } catch (NumberFormatException e) {
      // said below
    }
    throw new IllegalArgumentException(of + ": " + text + " is no number from 1 up");
  }
}
