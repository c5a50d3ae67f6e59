package io.fairlead.epp.checkpoint;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a picker's checkpoint lies: one file, which is replaced whole. It is written on a thread of
 * its own, so that a disk that hangs holds nothing else up, and once a second at most. A disk that
 * fails is told of once, and tried again with the next change and every half minute.
 */
public final class CheckpointFile implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(CheckpointFile.class);

  private static final String NAME = "checkpoint.json";
  private static final long SETTLE_MILLIS = 1_000;
  private static final long RETRY_MILLIS = 30_000;
  private static final long LARGEST = 64 << 20;
  private static final long FINISH_MILLIS = 2_000;

  /** Whatever the process's umask is: a volume may be shared. */
  private static final FileAttribute<?> OWN_FOLDER =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static final FileAttribute<?> OWN_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private final Path folder;
  private final String source;
  private final long retryMillis;
  private final long finishMillis;
  private final ScheduledExecutorService writer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("fairlead-checkpoint").factory());
  private final AtomicReference<@Nullable Checkpoint> next = new AtomicReference<>();

  /** What could not be written; null where the disk has the newest. Written by its thread. */
  private volatile @Nullable Checkpoint unwritten;

  /** When that is tried again; null while there is nothing to try. Writer's thread only. */
  private @Nullable Future<?> retry;

  /** Writer's thread only. */
  private boolean complained;

  /**
   * The file of one picker.
   *
   * @param folder made when the first checkpoint is written; of this process alone
   * @param source what the config and the endpoints come from: what another source left there is
   *     not read
   */
  public CheckpointFile(Path folder, String source) {
    this(folder, source, RETRY_MILLIS, FINISH_MILLIS);
  }

  /** One that tries again after so long, and writes for so long at its end. */
  CheckpointFile(Path folder, String source, long retryMillis, long finishMillis) {
    this.folder = folder;
    this.source = source;
    this.retryMillis = retryMillis;
    this.finishMillis = finishMillis;
  }

  /** Where it lies. */
  public Path path() {
    return folder.resolve(NAME);
  }

  /** What an earlier process left; null, with a reason in the log, when that can't be used. */
  public @Nullable Checkpoint read() {
    try {
      if (Files.size(path()) > LARGEST) {
        LOG.warn("{}: not used, it is larger than {} MiB", path(), LARGEST >> 20);
        return null;
      }
      return CheckpointText.read(source, Files.readString(path()));
    } catch (NoSuchFileException e) {
      return null;
    } catch (IOException | UncheckedIOException e) {
      LOG.warn("{}: can't be read, so nothing is started from: {}", path(), e.toString());
      return null;
    } catch (CheckpointText.UnusableException e) {
      LOG.warn("{}: not used: {}", path(), e.getMessage());
      return null;
    }
  }

  /** Replaces what is there, a moment later; what is saved meanwhile takes its place. */
  public void save(Checkpoint checkpoint) {
    if (next.getAndSet(checkpoint) == null) {
      try {
        var _ = writer.schedule(this::write, SETTLE_MILLIS, TimeUnit.MILLISECONDS);
      } catch (RejectedExecutionException e) {
        LOG.debug("a change was seen after the end", e);
      }
    }
  }

  /** Whether the disk lacks the newest. */
  boolean failed() {
    return unwritten != null;
  }

  /** Writes what is still to be written. */
  @Override
  public void close() {
    writer.execute(
        () -> {
          write();
          stopTrying();
        });
    writer.shutdown();
    try {
      if (!writer.awaitTermination(finishMillis, TimeUnit.MILLISECONDS)) {
        writer.shutdownNow();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void write() {
    Checkpoint newest = next.getAndSet(null);
    Checkpoint checkpoint = newest == null ? unwritten : newest;
    if (checkpoint == null) {
      return;
    }
    stopTrying();
    try {
      Files.createDirectories(folder, OWN_FOLDER);
      replace(CheckpointText.write(source, checkpoint).getBytes(StandardCharsets.UTF_8));
      unwritten = null;
      if (complained) {
        LOG.info("{}: can be written again", path());
      }
      complained = false;
    } catch (IOException | RuntimeException e) {
      unwritten = checkpoint;
      tryAgain();
      if (!complained) {
        complained = true;
        LOG.warn(
            "{}: can't be written, so a restart without the API server would find an older state:"
                + " {}",
            path(),
            e.toString());
      }
    }
  }

  private void tryAgain() {
    if (!writer.isShutdown()) {
      retry = writer.schedule(this::write, retryMillis, TimeUnit.MILLISECONDS);
    }
  }

  private void stopTrying() {
    if (retry != null) {
      retry.cancel(false);
      retry = null;
    }
  }

  /** A process that ends in the middle leaves the file as it was. */
  private void replace(byte[] bytes) throws IOException {
    Path written = folder.resolve(NAME + ".new");
    try (FileChannel channel =
        FileChannel.open(
            written,
            Set.of(
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE),
            OWN_FILE)) {
      ByteBuffer rest = ByteBuffer.wrap(bytes);
      while (rest.hasRemaining()) {
        channel.write(rest);
      }
      channel.force(true);
    }
    Files.move(
        written, path(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
