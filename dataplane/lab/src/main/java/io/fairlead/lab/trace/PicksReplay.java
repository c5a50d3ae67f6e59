package io.fairlead.lab.trace;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.HealthChange;
import io.fairlead.core.LeftListener;
import io.fairlead.core.PluginFailedException;
import io.fairlead.core.PoolCore;
import io.fairlead.core.PoolListener;
import io.fairlead.core.Probe;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.core.scheduling.InvalidConfigException;
import io.fairlead.crds.config.Criticality;
import io.fairlead.lab.trace.CaptureEvent.Request;
import io.fairlead.plugin.PluginFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

  /** What the new core has done and what has not been compared yet. */
  private final Map<Request, Effect> effects = new LinkedHashMap<>();

  private int decisions;
  private int same;
  private int sameEndpoint;
  private int exact;
  private int differentInExact;

  private PicksReplay(CapturedRun run, List<PluginFactory> plugins) {
    core = new PoolCore(run.limits(), new Probes(run.unasked()));
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
    run.events().forEach((seq, event) -> replay.take(seq, event, seq < completeness.exactUntil()));
    long last = run.events().isEmpty() ? 0 : run.events().lastKey();
    replay.compareRest(last, last < completeness.exactUntil());
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

  private void take(long seq, CaptureEvent event, boolean exactly) {
    if (event instanceof CaptureEvent.Decided decided) {
      compare(seq, decided.request(), decided.effect(), exactly);
      return;
    }
    if (event instanceof CaptureEvent.Unasked || event instanceof CaptureEvent.PresumedOver) {
      return; // what the core wanted, or did, in an event, and no event of its own
    }
    compareRest(seq, exactly);
    tell(event);
    switch (event) {
      case CaptureEvent.Arrived arrived ->
          compare(seq, arrived.request(), arrived.effect(), exactly);
      case CaptureEvent.AttemptFailed failed ->
          compare(seq, failed.request(), failed.effect(), exactly);
      case CaptureEvent.AnsweredBy other -> compare(seq, other.request(), other.effect(), exactly);
      default -> {}
    }
  }

  private void tell(CaptureEvent event) {
    switch (event) {
      case CaptureEvent.Configured configured -> {
        CompiledConfig compiled = compiler.compile(configured.config(), config);
        core.configure(configured.now(), compiled);
        config = compiled;
      }
      case CaptureEvent.Endpoints set -> endpoints(set);
      case CaptureEvent.Replicas pickers -> core.replicas(pickers.count());
      case CaptureEvent.Scraped scraped -> {
        EndpointSpec endpoint = endpoints.get(scraped.endpoint());
        if (endpoint != null) {
          core.scraped(scraped.now(), endpoint, scraped.begun(), scraped.metrics());
        }
      }
      case CaptureEvent.Unreachable failed -> {
        EndpointSpec endpoint = endpoints.get(failed.endpoint());
        if (endpoint != null) {
          core.unreachable(failed.now(), endpoint, failed.begun(), failed.failure());
        }
      }
      case CaptureEvent.Ticked ticked -> guarded(() -> core.tick(ticked.now()));
      case CaptureEvent.Probed probed -> probed(probed);
      case CaptureEvent.Arrived arrived ->
          guarded(
              () ->
                  core.arrive(
                      arrived.now(),
                      arrived.facts(),
                      arrived.advice(),
                      listener(arrived.request())));
      case CaptureEvent.Advised advised ->
          core.advised(ticketOf(advised.request()), advised.advice());
      case CaptureEvent.AttemptFailed failed ->
          guarded(
              () -> core.attemptFailed(failed.now(), ticketOf(failed.request()), failed.failure()));
      case CaptureEvent.AnsweredBy other ->
          guarded(
              () -> core.answeredBy(other.now(), ticketOf(other.request()), other.destination()));
      case CaptureEvent.FirstByte first -> core.firstByte(first.now(), ticketOf(first.request()));
      case CaptureEvent.Answering begun -> core.answering(begun.now(), ticketOf(begun.request()));
      case CaptureEvent.Progress more -> core.progress(more.now(), ticketOf(more.request()));
      case CaptureEvent.HeldUp held ->
          core.heldUp(held.now(), ticketOf(held.request()), held.held());
      case CaptureEvent.Left left ->
          core.left(left.now(), ticketOf(left.request()), LeftListener.NONE);
      case CaptureEvent.RefusedWaiting refused -> core.refuseWaiting(refused.now());
      case CaptureEvent.Unasked _,
          CaptureEvent.Decided _,
          CaptureEvent.PresumedOver _,
          CaptureEvent.NotTold _ -> {}
      case CaptureEvent.Ended ended ->
          guarded(
              () ->
                  core.ended(
                      ended.now(), ticketOf(ended.request()), ended.outcome(), ended.usage()));
    }
  }

  private void probed(CaptureEvent.Probed probed) {
    Failure failure = probed.failure();
    if (failure == null) {
      core.probed(probed.now(), probed.probe());
    } else {
      core.probeFailed(probed.now(), probed.probe(), failure);
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

  private RequestListener listener(Request of) {
    return new RequestListener() {
      @Override
      public void waits(long request, Criticality criticality) {
        tickets.put(of, request);
      }

      @Override
      public void send(long request, Route route) {
        tickets.put(of, request);
        effects.put(of, Effect.of(route));
      }

      @Override
      public void pass(long request) {
        effects.put(of, new Effect.Passed());
      }

      @Override
      public void reject(long request, Rejection rejection) {
        tickets.put(of, request);
        effects.put(of, Effect.of(rejection));
      }
    };
  }

  /** No ticket is 0: events of a request whose arrival is missing change nothing. */
  private long ticketOf(Request request) {
    return tickets.getOrDefault(request, 0L);
  }

  /** Compares with what the captured core did; where it did nothing yet, it may do so later. */
  private void compare(long seq, Request request, Effect captured, boolean exactly) {
    if (captured instanceof Effect.None) {
      return;
    }
    Effect replayed = effects.remove(request);
    decided(seq, request, captured, replayed == null ? new Effect.None() : replayed, exactly);
  }

  /** What is left by the time of the next event the captured core did not do. */
  private void compareRest(long seq, boolean exactly) {
    effects.forEach(
        (request, replayed) -> decided(seq, request, new Effect.None(), replayed, exactly));
    effects.clear();
  }

  private void decided(
      long seq, Request request, Effect captured, Effect replayed, boolean exactly) {
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

  /** Asks nobody: what came of each probe is in the capture, also that nobody was asked. */
  private record Probes(Set<Long> unasked) implements PoolListener {

    @Override
    public boolean probe(Probe probe) {
      return !unasked.contains(probe.id());
    }

    @Override
    public void healthChanged(HealthChange change) {}
  }
}
