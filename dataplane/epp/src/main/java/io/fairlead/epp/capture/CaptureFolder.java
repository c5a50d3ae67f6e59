package io.fairlead.epp.capture;

import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The folder of a capture: names files and keeps no more of them than may be. */
final class CaptureFolder {

  private static final DateTimeFormatter NAME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss.SSS'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

  private static final List<String> SUFFIXES =
      List.of(CaptureFields.REQUESTS_SUFFIX, CaptureFields.STATE_SUFFIX);

  /** Whatever the process's umask is: a volume may be shared. */
  private static final FileAttribute<?> OWN_FOLDER =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static final FileAttribute<?> OWN_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private final Path folder;
  private final int most;
  private final String stem;
  private final Opener opener;
  private int number;

  /** Opens a new file; what tests put in the disk's place. */
  interface Opener {
    SeekableByteChannel open(Path file) throws IOException;
  }

  /**
   * Two files that belong together.
   *
   * @param requests one line per request
   * @param state all else
   */
  record Pair(SeekableByteChannel requests, SeekableByteChannel state) {

    void close() throws IOException {
      try (requests) {
        state.close();
      }
    }
  }

  CaptureFolder(CaptureConfig config, Instant started) {
    this(config, started, CaptureFolder::create);
  }

  CaptureFolder(CaptureConfig config, Instant started, Opener opener) {
    folder = config.folder();
    most = config.files();
    stem = CaptureFields.PREFIX + NAME.format(started);
    this.opener = opener;
  }

  private static SeekableByteChannel create(Path file) throws IOException {
    return Files.newByteChannel(
        file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), OWN_FILE);
  }

  /** Makes the next pair. */
  Pair next() throws IOException {
    Files.createDirectories(folder, OWN_FOLDER);
    number++;
    SeekableByteChannel requests = opener.open(path(name(), CaptureFields.REQUESTS_SUFFIX));
    try {
      return new Pair(requests, opener.open(path(name(), CaptureFields.STATE_SUFFIX)));
    } catch (IOException | RuntimeException e) {
      requests.close();
      delete(name());
      throw e;
    }
  }

  /** The pair made last could not be begun: it is taken away again. */
  void discard() throws IOException {
    delete(name());
  }

  @Override
  public String toString() {
    return folder.toString();
  }

  /**
   * Deletes the oldest pairs beyond those that may be, those of other processes first: names begin
   * with what the clock said, and it may have been set back since.
   */
  void prune() throws IOException {
    NavigableSet<String> names =
        new TreeSet<>(Comparator.comparing(this::isOwn).thenComparing(Comparator.naturalOrder()));
    try (Stream<Path> files = Files.list(folder)) {
      files.map(CaptureFolder::pairName).filter(name -> !name.isEmpty()).forEach(names::add);
    }
    while (names.size() > most) {
      delete(names.removeFirst());
    }
  }

  private boolean isOwn(String pair) {
    return pair.startsWith(stem);
  }

  private void delete(String name) throws IOException {
    for (String suffix : SUFFIXES) {
      Files.deleteIfExists(path(name, suffix));
    }
  }

  private String name() {
    return "%s-%06d".formatted(stem, number);
  }

  /** Name of the pair that a file is of; empty when it is none of a capture. */
  private static String pairName(Path file) {
    String name = String.valueOf(file.getFileName());
    if (name.startsWith(CaptureFields.PREFIX)) {
      for (String suffix : SUFFIXES) {
        if (name.endsWith(suffix)) {
          return name.substring(0, name.length() - suffix.length());
        }
      }
    }
    return "";
  }

  private Path path(String name, String suffix) {
    return folder.resolve(name + suffix);
  }
}
