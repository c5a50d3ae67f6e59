package io.fairlead.lab.trace;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.PluginFailedException;
import io.fairlead.core.PoolCore;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.core.scheduling.InvalidConfigException;
import io.fairlead.lab.trace.CaptureEvent.Request;
import io.fairlead.plugin.PluginFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Tells a new core all that a captured one was told, at the same times of its clock, and compares
 * what the two do.
 */
public final class PicksReplay {

  /** Differences that are told one by one. */
  private static final int SHOWN = 10;

  private final PoolCore core;
  private final ConfigCompiler compiler;
  private final Map<Request, Long> tickets = new HashMap<>();
  private final List<String> differences = new ArrayList<>();
  private Map<String, EndpointSpec> endpoints = Map.of();
  private @Nullable CompiledConfig config;
  private Effect effect = new Effect.None();
  private long ticket;
  private int decisions;
  private int same;
  private int sameEndpoint;
  private int exact;
  private int differentInExact;

  private PicksReplay(CapturedRun run, List<PluginFactory> plugins) {
    core = new PoolCore(run.limits());
    compiler = new ConfigCompiler(plugins);
  }

  /**
   * Replays a capture.
   *
   * @param capture its folder, or what the names of its files begin with
   * @param plugins types of plugins beyond the built-in ones that its configs name
   * @throws InvalidTraceException if it can't be read
   * @throws InvalidConfigException if a config can't be compiled here, such as for want of a plugin
   */
  public static PicksReport run(Path capture, List<PluginFactory> plugins) {
    CapturedRun run = CaptureReader.read(CaptureFiles.of(capture));
    Completeness completeness = Completeness.of(run);
    PicksReplay replay = new PicksReplay(run, plugins);
    run.events().forEach((seq, event) -> replay.tell(seq, event, seq < completeness.exactUntil()));
    return new PicksReport(
        run.events().size(),
        replay.decisions,
        replay.same,
        replay.sameEndpoint,
        replay.exact,
        replay.differentInExact,
        replay.differences,
        completeness.reasons());
  }

  private void tell(long seq, CaptureEvent event, boolean exactly) {
    switch (event) {
      case CaptureEvent.Configured configured -> {
        CompiledConfig compiled = compiler.compile(configured.config(), config);
        core.configure(configured.now(), compiled);
        config = compiled;
      }
      case CaptureEvent.Endpoints set -> endpoints(set);
      case CaptureEvent.Scraped scraped -> {
        EndpointSpec endpoint = endpoints.get(scraped.endpoint());
        if (endpoint != null) {
          core.scraped(scraped.now(), endpoint, scraped.begun(), scraped.metrics());
        }
      }
      case CaptureEvent.Arrived arrived -> {
        guarded(() -> core.arrive(arrived.now(), arrived.facts(), listener()));
        tickets.put(arrived.request(), ticket);
        compare(seq, arrived.request(), arrived.effect(), exactly);
      }
      case CaptureEvent.AttemptFailed failed -> {
        guarded(() -> core.attemptFailed(failed.now(), ticketOf(failed.request()), Failure.DIED));
        compare(seq, failed.request(), failed.effect(), exactly);
      }
      case CaptureEvent.FirstToken first -> core.firstByte(first.now(), ticketOf(first.request()));
      case CaptureEvent.Ended ended ->
          guarded(
              () ->
                  core.ended(
                      ended.now(), ticketOf(ended.request()), ended.outcome(), ended.usage()));
    }
  }

  private void endpoints(CaptureEvent.Endpoints set) {
    endpoints = HashMap.newHashMap(set.endpoints().size());
    set.endpoints().forEach(endpoint -> endpoints.put(endpoint.name(), endpoint));
    try {
      core.endpoints(set.now(), set.endpoints());
    } catch (PluginFailedException e) {
      // The captured core went on, too: the endpoints are in force.
    }
  }

  /** A plugin that threw has thrown in the captured core, too; the request was rejected. */
  private static void guarded(Runnable event) {
    try {
      event.run();
    } catch (RuntimeException e) {
      // What became of the request is compared.
    }
  }

  private RequestListener listener() {
    return new RequestListener() {
      @Override
      public void send(long request, Route route) {
        ticket = request;
        effect = Effect.of(route);
      }

      @Override
      public void pass(long request) {}

      @Override
      public void reject(long request, Rejection rejection) {
        ticket = request;
        effect = Effect.of(rejection);
      }
    };
  }

  /** No ticket is 0: events of a request whose arrival is missing change nothing. */
  private long ticketOf(Request request) {
    return tickets.getOrDefault(request, 0L);
  }

  private void compare(long seq, Request request, Effect captured, boolean exactly) {
    Effect replayed = effect;
    effect = new Effect.None();
    if (captured instanceof Effect.None && replayed instanceof Effect.None) {
      return;
    }
    decisions++;
    exact += exactly ? 1 : 0;
    if (captured.equals(replayed)) {
      same++;
      sameEndpoint++;
      return;
    }
    sameEndpoint += captured.endpoint().equals(replayed.endpoint()) ? 1 : 0;
    differentInExact += exactly ? 1 : 0;
    if (differences.size() < SHOWN) {
      differences.add(
          "event %d (%s): captured %s, replayed %s"
              .formatted(seq, request.line(), captured, replayed));
    }
  }
}
