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
import java.util.concurrent.Executors;
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
 * fails is told of once, and tried again with the next change.
 */
public final class CheckpointFile implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(CheckpointFile.class);

  private static final String NAME = "checkpoint.json";
  private static final long SETTLE_MILLIS = 1_000;
  private static final long LARGEST = 64 << 20;
  private static final long FINISH_SECONDS = 2;

  private final Path folder;
  private final String source;
  private final ScheduledExecutorService writer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("fairlead-checkpoint").factory());
  private final AtomicReference<@Nullable Checkpoint> next = new AtomicReference<>();

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
    this.folder = folder;
    this.source = source;
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

  /** Writes what is still to be written. */
  @Override
  public void close() {
    writer.execute(this::write);
    writer.shutdown();
    try {
      if (!writer.awaitTermination(FINISH_SECONDS, TimeUnit.SECONDS)) {
        writer.shutdownNow();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void write() {
    Checkpoint checkpoint = next.getAndSet(null);
    if (checkpoint == null) {
      return;
    }
    try {
      Files.createDirectories(folder);
      replace(CheckpointText.write(source, checkpoint).getBytes(StandardCharsets.UTF_8));
      complained = false;
    } catch (IOException | RuntimeException e) {
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

  /** A process that ends in the middle leaves the file as it was. */
  private void replace(byte[] bytes) throws IOException {
    Path written = folder.resolve(NAME + ".new");
    try (FileChannel channel =
        FileChannel.open(
            written,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
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
