package io.fairlead.bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Locale;
import java.util.stream.Stream;

/** What a benchmark ran on, in one line without names of hosts. */
final class Machine {

  private Machine() {}

  /** Processor, cores, memory, JDK, operating system, date. */
  static String description() throws IOException {
    return describe(processor() + ", " + System.getProperty("os.version"));
  }

  /** The same, with no more of the processor than its architecture. */
  static String kind() {
    return describe(System.getProperty("os.arch"));
  }

  private static String describe(String processor) {
    long bytes =
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize();
    return String.format(
        Locale.ROOT,
        "%d cores of a %s %s machine, %.0f GiB, JDK %s (%s), %s",
        Runtime.getRuntime().availableProcessors(),
        System.getProperty("os.name"),
        processor,
        bytes / (double) (1 << 30),
        Runtime.version(),
        System.getProperty("java.vendor"),
        LocalDate.now(ZoneOffset.UTC));
  }

  private static String processor() throws IOException {
    Path info = Path.of("/proc/cpuinfo");
    if (!Files.isReadable(info)) {
      return System.getProperty("os.arch");
    }
    try (Stream<String> lines = Files.lines(info)) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse(System.getProperty("os.arch"));
    }
  }
}
