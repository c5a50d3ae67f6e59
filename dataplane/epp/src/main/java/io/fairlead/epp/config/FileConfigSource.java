package io.fairlead.epp.config;

import java.io.IOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A config in files or folders, read again when their content changes.
 *
 * <p>The file system's notice only shortens the wait: what counts is the content, compared at every
 * poll, so renames, links and network file systems that tell nothing work too.
 */
public final class FileConfigSource implements ConfigSource {

  private static final Logger LOG = LoggerFactory.getLogger(FileConfigSource.class);

  private static final long SETTLE_MILLIS = 20;

  private final List<Path> paths;
  private final Duration poll;
  private final Function<FileState, ConfigOffer> reader;
  private @Nullable Thread thread;
  private volatile boolean closed;

  /**
   * A source that is not watched yet.
   *
   * @param paths files and folders
   * @param poll longest time until a change is seen
   * @param reader makes sense of their text; says what is wrong by its return value
   */
  public FileConfigSource(
      List<Path> paths, Duration poll, Function<FileState, ConfigOffer> reader) {
    this.paths = List.copyOf(paths);
    this.poll = poll;
    this.reader = reader;
  }

  @Override
  public ConfigOffer read() {
    try {
      return offer(FileState.read(paths));
    } catch (IOException e) {
      return unreadable(e);
    }
  }

  @Override
  public void start(Consumer<ConfigOffer> sink) {
    thread = Thread.ofPlatform().daemon().name("fairlead-files").start(() -> watch(sink));
  }

  @Override
  public void close() {
    closed = true;
    if (thread != null) {
      thread.interrupt();
    }
  }

  private void watch(Consumer<ConfigOffer> sink) {
    try (@Nullable WatchService watcher = watcher()) {
      @Nullable String seen = null;
      @Nullable String failure = null;
      while (!closed) {
        try {
          seen = look(seen, sink);
          failure = null;
        } catch (RuntimeException | Error e) {
          // Looked at again at the next poll, and told of once.
          if (!e.toString().equals(failure)) {
            LOG.error("{}: could not be looked at, trying again", paths, e);
          }
          failure = e.toString();
        }
        await(watcher);
      }
    } catch (InterruptedException | ClosedWatchServiceException e) {
      // Closed: nobody wants to know about changes any more.
    } catch (IOException e) {
      LOG.debug("closing the file watch failed", e);
    }
  }

  /**
   * Offers the files once two readings in a row agree: a folder listed while a file is replaced may
   * lack it, and a file read while it is written may end early.
   */
  private String look(@Nullable String seen, Consumer<ConfigOffer> sink)
      throws InterruptedException {
    Reading now = readingNow();
    if (now.hash().equals(seen)) {
      return now.hash();
    }
    boolean settled = false;
    while (!settled) {
      TimeUnit.MILLISECONDS.sleep(SETTLE_MILLIS);
      Reading again = readingNow();
      settled = again.hash().equals(now.hash());
      now = again;
    }
    if (!closed && !now.hash().equals(seen)) {
      sink.accept(now.offer().get());
    }
    return now.hash();
  }

  private record Reading(String hash, Supplier<ConfigOffer> offer) {}

  private Reading readingNow() {
    try {
      FileState state = FileState.read(paths);
      return new Reading(state.hash(), () -> offer(state));
    } catch (IOException e) {
      ConfigOffer offer = unreadable(e);
      return new Reading(offer.contentHash(), () -> offer);
    }
  }

  private ConfigOffer offer(FileState state) {
    return ConfigReaders.guarded(paths.toString(), state.hash(), () -> reader.apply(state));
  }

  private ConfigOffer unreadable(IOException e) {
    String message = String.valueOf(e.getMessage());
    return new ConfigOffer.Unreadable(paths.toString(), "unreadable: " + message, message);
  }

  private void await(@Nullable WatchService watcher) throws InterruptedException {
    if (watcher == null) {
      TimeUnit.NANOSECONDS.sleep(poll.toNanos());
      return;
    }
    WatchKey key = watcher.poll(poll.toNanos(), TimeUnit.NANOSECONDS);
    if (key != null) {
      key.pollEvents();
      key.reset();
    }
  }

  private @Nullable WatchService watcher() {
    try {
      Set<Path> folders = new LinkedHashSet<>();
      for (Path path : paths) {
        Path absolute = path.toAbsolutePath();
        Path folder = Files.isDirectory(absolute) ? absolute : absolute.getParent();
        if (folder != null) {
          folders.add(folder);
        }
      }
      WatchService watcher = paths.getFirst().getFileSystem().newWatchService();
      for (Path folder : folders) {
        folder.register(
            watcher,
            StandardWatchEventKinds.ENTRY_CREATE,
            StandardWatchEventKinds.ENTRY_MODIFY,
            StandardWatchEventKinds.ENTRY_DELETE);
      }
      return watcher;
    } catch (IOException | RuntimeException e) {
      LOG.info("no notice of changes from the file system ({}): polling only", e.toString());
      return null;
    }
  }
}
