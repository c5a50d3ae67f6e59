package io.fairlead.lab.hop;

import io.fairlead.lab.NamedArguments;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the programs of this package have in common. */
final class Programs {

  private Programs() {}

  /** What a program does with its arguments. */
  interface Body {
    /** Returns whether all went well. */
    boolean run(NamedArguments arguments) throws Exception;
  }

  /** Runs a program and ends the process: 0 when all went well, 1 when not, 2 for bad arguments. */
  static void main(String[] args, Body body) throws Exception {
    try {
      System.exit(body.run(new NamedArguments(args)) ? 0 : 1);
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
    }
  }

  /** Whole numbers parted by commas, each at least 1. */
  static List<Integer> sizes(String text) {
    List<Integer> sizes = new ArrayList<>();
    for (String each : text.split(",", -1)) {
      if (!each.matches("[1-9][0-9]{0,8}")) {
        throw new IllegalArgumentException("expected whole numbers above 0, got " + text);
      }
      sizes.add(Integer.valueOf(each));
    }
    return sizes;
  }

  /** CPU time of each process, all its threads, by name. */
  static Map<String, Duration> cpu(Map<String, Long> processes) {
    Map<String, Duration> used = new LinkedHashMap<>();
    processes.forEach(
        (name, id) ->
            used.put(
                name,
                ProcessHandle.of(id)
                    .flatMap(handle -> handle.info().totalCpuDuration())
                    .orElseThrow(
                        () -> new IllegalStateException(name + " (" + id + ") has ended"))));
    return used;
  }

  /** A line of {@code /proc/PID/status} in bytes, such as {@code VmRSS}. */
  static long memory(long process, String field) throws IOException {
    return Files.readAllLines(Path.of("/proc", Long.toString(process), "status")).stream()
        .filter(line -> line.startsWith(field + ":"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
        .findFirst()
        .orElseThrow(() -> new IOException("process " + process + " has no " + field));
  }
}
