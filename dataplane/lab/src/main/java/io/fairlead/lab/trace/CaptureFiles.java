package io.fairlead.lab.trace;

import io.fairlead.epp.capture.CaptureFields;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The files of one process's capture, in order.
 *
 * @param name what all their names begin with
 * @param requests one line per request
 * @param states what else the core was told
 */
record CaptureFiles(Path name, List<Path> requests, List<Path> states) {

  /** Whether the path names a capture: its folder, or what its files' names begin with. */
  static boolean isCapture(Path path) {
    return Files.isDirectory(path)
        || (!Files.exists(path) && path.toString().contains(CaptureFields.PREFIX));
  }

  /**
   * Those of a capture.
   *
   * @param path a folder with the capture of one process, or, where it has several, what the names
   *     of one's files begin with
   */
  static CaptureFiles of(Path path) {
    boolean whole = Files.isDirectory(path);
    Path parent = path.toAbsolutePath().getParent();
    Path folder = whole || parent == null ? path : parent;
    String prefix = whole ? "" : String.valueOf(path.getFileName());
    List<Path> requests = files(folder, prefix, CaptureFields.REQUESTS_SUFFIX);
    if (requests.isEmpty()) {
      throw new InvalidTraceException(
          path,
          "there are no files named *%s; name a trace, or the folder of a capture"
              .formatted(CaptureFields.REQUESTS_SUFFIX));
    }
    SortedSet<String> processes = new TreeSet<>();
    requests.forEach(file -> processes.add(process(file)));
    if (processes.size() > 1) {
      throw new InvalidTraceException(
          path,
          "holds captures of %d processes; name one of them: %s"
              .formatted(
                  processes.size(),
                  String.join(
                      ", ", processes.stream().map(p -> folder.resolve(p).toString()).toList())));
    }
    return new CaptureFiles(
        folder.resolve(processes.getFirst()),
        requests,
        files(folder, processes.getFirst(), CaptureFields.STATE_SUFFIX));
  }

  /** All of a file's name but its number. */
  private static String process(Path file) {
    String name = String.valueOf(file.getFileName());
    String pair = name.substring(0, name.length() - CaptureFields.REQUESTS_SUFFIX.length());
    int number = pair.lastIndexOf('-');
    return number > 0 ? pair.substring(0, number) : pair;
  }

  private static List<Path> files(Path folder, String prefix, String suffix) {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> String.valueOf(file.getFileName()).startsWith(prefix))
          .filter(file -> file.toString().endsWith(suffix))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new InvalidTraceException(folder, "can't be read: " + e);
    }
  }
}
