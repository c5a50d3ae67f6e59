package io.fairlead.lab.peers;

import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.plugin.Completion;
import io.fairlead.plugin.Endpoint;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * What each server was given in the last minutes, and how fast it answers: the load that Preble
 * goes by.
 */
final class PrebleWindow {

  private static final double NANOS_PER_SECOND = 1e9;

  private final long length;
  private final double prefillTokensPerSecond;
  private final Deque<Sent> sent = new ArrayDeque<>();
  private final List<Server> bySlot = new ArrayList<>();

  private record Sent(long at, Server server, long computed) {}

  /** One server. */
  private static final class Server {
    private int requests;
    private long computed;
    private final Recent secondsPerToken;
    private final Recent outputTokens;

    Server() {
      // global_scheduler_with_time.py: 0.15 s a token and 45 tokens until something is known.
      secondsPerToken = new Recent(0.15);
      outputTokens = new Recent(45);
    }
  }

  /** The last 200 of a number. */
  private static final class Recent {

    private static final int MOST = 200;

    private final Deque<Double> values = new ArrayDeque<>();

    Recent(double first) {
      values.add(first);
    }

    void add(double value) {
      values.add(value);
      if (values.size() > MOST) {
        values.remove();
      }
    }

    double median() {
      double[] sorted = values.stream().mapToDouble(v -> v).sorted().toArray();
      int half = sorted.length / 2;
      return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    double mean() {
      return Arrays.stream(values.stream().mapToDouble(v -> v).toArray()).average().orElse(0);
    }
  }

  /**
   * An empty one.
   *
   * @param length in nanoseconds
   */
  PrebleWindow(long length, double prefillTokensPerSecond) {
    this.length = length;
    this.prefillTokensPerSecond = prefillTokensPerSecond;
  }

  void joined(Endpoint endpoint) {
    server(endpoint);
    bySlot.set(PoolEndpoint.slot(endpoint), new Server());
  }

  void sent(long now, Endpoint endpoint, long computedTokens) {
    Server server = server(endpoint);
    server.requests++;
    server.computed += computedTokens;
    sent.add(new Sent(now, server, computedTokens));
  }

  /** Lets go of what is longer ago. */
  void advance(long now) {
    for (Sent first = sent.peek(); first != null && now - first.at() > length; ) {
      first.server().requests--;
      first.server().computed -= first.computed();
      sent.remove();
      first = sent.peek();
    }
  }

  void completed(Completion completion) {
    int tokens = completion.outputTokens();
    if (completion.succeeded() && tokens > 1 && completion.decodeTime() > 0) {
      Server server = server(completion.endpoint());
      server.outputTokens.add(tokens);
      server.secondsPerToken.add(completion.decodeTime() / NANOS_PER_SECOND / (tokens - 1));
    }
  }

  /** Requests that were sent there. */
  int requests(Endpoint endpoint) {
    return server(endpoint).requests;
  }

  /** Seconds of prefill that it was given. */
  double prefillSeconds(Endpoint endpoint) {
    return server(endpoint).computed / prefillTokensPerSecond;
  }

  /** Seconds that answers in flight there take in all, by what answers take there. */
  double decodeSeconds(Endpoint endpoint) {
    Server server = server(endpoint);
    return endpoint.inFlight() * server.outputTokens.mean() * server.secondsPerToken.median();
  }

  private Server server(Endpoint endpoint) {
    int slot = PoolEndpoint.slot(endpoint);
    while (bySlot.size() <= slot) {
      bySlot.add(new Server());
    }
    return bySlot.get(slot);
  }
}
