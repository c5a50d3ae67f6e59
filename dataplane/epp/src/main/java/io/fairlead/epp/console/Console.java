package io.fairlead.epp.console;

import io.fairlead.epp.shadow.ShadowReport;
import io.fairlead.epp.status.PoolMoment;
import io.fairlead.epp.status.ShadowPage;
import io.fairlead.epp.transport.Periodic;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shows people what the picker does: a page, and a stream of events that keeps it up to date.
 *
 * <p>Once a second the pool is looked at and rendered, once for all who look; while nobody does,
 * once in ten seconds, for the curves alone. Everything runs on the admin server's one loop; the
 * pool's loop only hands a snapshot over.
 */
public final class Console {

  private static final Logger LOG = LoggerFactory.getLogger(Console.class);

  /** As many fit on a screen. */
  private static final int DECISIONS = 30;

  private final EventLoop loop;
  private final Access access;
  private final ConsoleData data;
  private final InstantSource time;
  private final Assets assets = Assets.load();
  private final History history = new History();
  private final EventStreams streams = new EventStreams();

  /** Since the last point of the history. */
  private int seconds = History.SECONDS_BETWEEN;

  /** Whether the pool's loop has not answered the last look yet. */
  private boolean looking;

  private boolean failed;

  private Console(EventLoop loop, Access access, ConsoleData data, InstantSource time) {
    this.loop = loop;
    this.access = access;
    this.data = data;
    this.time = time;
  }

  /**
   * Begins to look.
   *
   * @param loop the admin server's only one
   */
  public static Console start(EventLoop loop, Access access, ConsoleData data) {
    Console console = new Console(loop, access, data, InstantSource.system());
    Periodic.run(loop, console::tick, 0, 1, TimeUnit.SECONDS);
    return console;
  }

  /** For one connection: answers what is the console's, and passes all else on. */
  public ChannelHandler handler() {
    return new ConsoleHandler(this, access, assets);
  }

  EventStreams streams() {
    return streams;
  }

  /** A stream was opened: who is the first to look need not wait for the next second. */
  void opened(EventStreams.Stream stream, boolean session) {
    EventStreams.send(
        stream,
        "hello",
        "{\"every\":"
            + History.SECONDS_BETWEEN
            + ",\"session\":"
            + session
            + ",\"points\":"
            + history.all()
            + "}");
    if (streams.count() == 1) {
      look(false);
    }
  }

  private void tick() {
    streams.tick();
    seconds++;
    boolean point = seconds >= History.SECONDS_BETWEEN;
    if (point || streams.count() > 0) {
      look(point);
    }
  }

  private void look(boolean point) {
    if (looking) {
      return;
    }
    looking = true;
    if (point) {
      seconds = 0;
    }
    try {
      whenThere(data.moment(), moment -> show(moment, point));
    } catch (RuntimeException | Error e) {
      failed(e); // and is tried again in a second
    }
  }

  private void show(PoolMoment moment, boolean point) {
    Instant now = time.instant();
    List<ShadowReport> shadows = data.shadows();
    if (point) {
      streams.send("point", history.add(now, moment, shadows));
    }
    if (streams.count() == 0) {
      looking = false;
      return;
    }
    String status = data.status(moment);
    String told = ShadowPage.of(shadows);
    whenThere(
        data.decisions(Map.of(), DECISIONS),
        decisions -> {
          looking = false;
          streams.send(
              "state",
              "{\"at\":%d,\"status\":%s,\"shadows\":%s,\"decisions\":%s}"
                  .formatted(now.toEpochMilli(), status, told, decisions));
        });
  }

  /** Goes on here with what another loop hands over; not at all where that fails. */
  private <T> void whenThere(Future<T> known, Consumer<T> next) {
    known.addListener(
        (Future<T> done) ->
            loop.execute(
                () -> {
                  try {
                    next.accept(done.get());
                    failed = false;
                  } catch (Exception | Error e) {
                    failed(e);
                  }
                }));
  }

  private void failed(Throwable why) {
    looking = false;
    if (!failed) {
      LOG.warn("the console could not look at the pool", why);
    }
    failed = true;
  }
}
