package io.fairlead.lab.trace;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The files of one capture.
 *
 * @param requests one line per request, in order of their names
 * @param states what else the core was told, in order of their names
 */
record CaptureFiles(List<Path> requests, List<Path> states) {

  private static final String REQUESTS = ".requests.jsonl";
  private static final String STATE = ".state.jsonl";

  /** Those in a folder. */
  static CaptureFiles in(Path folder) {
    List<Path> requests = ending(folder, REQUESTS);
    if (requests.isEmpty()) {
      throw new InvalidTraceException(
          folder, "holds no files named *" + REQUESTS + "; name a trace or a capture's folder");
    }
    return new CaptureFiles(requests, ending(folder, STATE));
  }

  private static List<Path> ending(Path folder, String suffix) {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(suffix)).sorted().toList();
    } catch (IOException e) {
      throw new InvalidTraceException(folder, "can't be read: " + e);
    }
  }
}
