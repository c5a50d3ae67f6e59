package io.fairlead.lab.trace;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Finds out what kind of trace a file is, and reads it in order of time. */
final class TraceFile {

  private TraceFile() {}

  /**
   * Reads a file, or every file of requests in the folder of a capture.
   *
   * @throws UncheckedIOException if it can't be read
   */
  static List<TraceRequest> read(Path path) {
    List<TraceRequest> requests = new ArrayList<>();
    for (Path file : files(path)) {
      List<String> lines = CaptureFiles.isCapture(path) ? wholeLines(file) : lines(file);
      requests.addAll(
          !lines.isEmpty() && lines.getFirst().strip().equals(AzureTable.HEADER)
              ? AzureTable.read(file, lines)
              : TraceLines.read(file, lines));
    }
    if (requests.isEmpty()) {
      throw new InvalidTraceException(path, "holds no requests");
    }
    requests.sort(Comparator.comparingLong(TraceRequest::atNanos));
    long first = requests.getFirst().atNanos();
    requests.replaceAll(request -> request.at(request.atNanos() - first));
    return requests;
  }

  private static List<Path> files(Path path) {
    return CaptureFiles.isCapture(path) ? CaptureFiles.of(path).requests() : List.of(path);
  }

  /**
   * The lines of a capture's file. One without an end was being written when its process was
   * killed: it is left out, like those that would have come after it.
   */
  static List<String> wholeLines(Path file) {
    List<String> lines = lines(file);
    return lines.isEmpty() || endsItsLine(file) ? lines : lines.subList(0, lines.size() - 1);
  }

  private static boolean endsItsLine(Path file) {
    try (SeekableByteChannel channel = Files.newByteChannel(file)) {
      ByteBuffer last = ByteBuffer.allocate(1);
      channel.position(channel.size() - 1).read(last);
      return last.get(0) == '\n';
    } catch (IOException e) {
      throw new InvalidTraceException(file, "can't be read: " + e);
    }
  }

  /** The lines of a text in UTF-8, whatever ends them; an order mark at its beginning is none. */
  static List<String> lines(Path file) {
    try (Stream<String> lines = Files.lines(file, StandardCharsets.UTF_8)) {
      List<String> all = new ArrayList<>(lines.toList());
      if (!all.isEmpty() && all.getFirst().startsWith("\uFEFF")) {
        all.set(0, all.getFirst().substring(1));
      }
      return all;
    } catch (NoSuchFileException e) {
      throw new InvalidTraceException(file, "is not there");
    } catch (IOException e) {
      throw new InvalidTraceException(file, "can't be read: " + e);
    } catch (UncheckedIOException e) {
      if (e.getCause() instanceof CharacterCodingException) {
        throw new InvalidTraceException(
            file, firstNotUtf8(file), "is not UTF-8 text; save the file as UTF-8");
      }
      throw new InvalidTraceException(file, "can't be read: " + e.getCause());
    }
  }

  /** The line of a text that isn't UTF-8 as a whole, from 1: more than one is decoded at a time. */
  private static int firstNotUtf8(Path file) {
    // Ends of lines are the same bytes in both.
    try (Stream<String> lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
      return 1 + (int) lines.takeWhile(TraceFile::isUtf8).count();
    } catch (IOException e) {
      throw new InvalidTraceException(file, "can't be read: " + e);
    }
  }

  private static boolean isUtf8(String bytes) {
    try {
      StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(bytes.getBytes(StandardCharsets.ISO_8859_1)));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }
}
