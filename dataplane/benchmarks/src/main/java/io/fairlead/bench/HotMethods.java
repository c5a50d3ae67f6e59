package io.fairlead.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordingFile;

/** Where the time went, from the execution samples of Flight Recorder. */
final class HotMethods {

  private static final int MOST = 15;

  private HotMethods() {}

  /** Removes recordings of an earlier run. */
  static void clear(Path folder) throws IOException {
    for (Path recording : recordings(folder)) {
      Files.delete(recording);
    }
  }

  /** Per recording, the methods that were running, and the parts of the core that called them. */
  static void print(Path folder) throws IOException {
    for (Path recording : recordings(folder)) {
      Map<String, Integer> methods = new HashMap<>();
      Map<String, Integer> own = new HashMap<>();
      int samples = 0;
      try (RecordingFile events = new RecordingFile(recording)) {
        while (events.hasMoreEvents()) {
          RecordedEvent event = events.readEvent();
          if (count(event, methods, own)) {
            samples++;
          }
        }
      }
      System.out.printf("%n%s: %d samples%n", folder.relativize(recording), samples);
      print("method", methods, samples);
      print("method of Fairlead, with what it calls elsewhere", own, samples);
    }
  }

  private static boolean count(
      RecordedEvent event, Map<String, Integer> methods, Map<String, Integer> own) {
    if (!event.getEventType().getName().equals("jdk.ExecutionSample")
        || event.getStackTrace() == null) {
      return false;
    }
    List<RecordedFrame> frames = event.getStackTrace().getFrames();
    Optional<String> decides =
        frames.stream()
            .map(frame -> name(frame.getMethod()))
            .filter(name -> name.startsWith("io.fairlead.") && !name.contains("jmh_generated"))
            .findFirst();
    if (frames.isEmpty() || decides.isEmpty()) {
      return false;
    }
    methods.merge(name(frames.getFirst().getMethod()), 1, Integer::sum);
    own.merge(decides.get(), 1, Integer::sum);
    return true;
  }

  private static String name(RecordedMethod method) {
    return method.getType().getName() + "." + method.getName();
  }

  private static void print(String title, Map<String, Integer> counts, int all) {
    System.out.printf("  share  %s%n", title);
    counts.entrySet().stream()
        .sorted(Map.Entry.<String, Integer>comparingByValue(Comparator.reverseOrder()))
        .limit(MOST)
        .forEach(e -> System.out.printf("%6.1f%%  %s%n", 100.0 * e.getValue() / all, e.getKey()));
  }

  private static List<Path> recordings(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(".jfr")).sorted().toList();
    }
  }
}
