package io.fairlead.lab.hop;

import io.fairlead.lab.NamedArguments;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What the programs of this package have in common. */
final class Programs {

  /** The kernel keeps 15 characters of a thread's name. */
  private static final Pattern COMPILER = Pattern.compile("C[12] Compiler");

  /** Of the fields behind the name in {@code stat}; the system's time is the next. */
  private static final int USER_TIME = 11;

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

  /**
   * CPU time of a process's compilers of byte code, in the kernel's ticks; 0 for one that has none.
   * It may fall: a JVM ends compilers that have nothing to do.
   */
  static long compilerTicks(long process) throws IOException {
    long ticks = 0;
    for (Path thread : threads(process)) {
      try {
        if (COMPILER.matcher(Files.readString(thread.resolve("comm"))).lookingAt()) {
          String stat = Files.readString(thread.resolve("stat"));
          String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
          ticks += Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[USER_TIME + 1]);
        }
      } catch (NoSuchFileException ended) {
        // between the listing and now
      }
    }
    return ticks;
  }

  private static List<Path> threads(long process) throws IOException {
    try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(process), "task"))) {
      return threads.toList();
    }
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
