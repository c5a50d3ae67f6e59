package io.fairlead.core.plugins.load;

import io.fairlead.core.plugins.learn.OutputLengths;
import io.fairlead.plugin.Completion;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.SaturationDetector;

/**
 * How full an endpoint is by what a further request would have to wait for there, whatever the
 * hardware and the model: a turn behind those who are in line, as they get theirs of late, a place
 * in the queue that the server tells of, a seat in its batch, or room in its KV cache. Whose first
 * token nobody sees, as of answers in one piece, is in none of these lines: a guess would hold back
 * what a server takes at once, and where it does not it tells of a queue. An endpoint that computes
 * one prompt has room for a second one, however long the first is: it would stand idle in between.
 */
final class ExpectedWaitDetector implements SaturationDetector, Observer {

  private static final double MILLI = 1e6;

  private static final double HALF = 0.5;

  private static final double FILLING = 3;

  private final OutputLengths outputs = new OutputLengths();
  private final double mostWait;
  private final double mostWaiting;
  private final double mostUsage;
  private final boolean keepsContexts;

  ExpectedWaitDetector(
      double mostWaitMillis, int mostWaiting, double mostUsage, boolean keepsContexts) {
    this.mostWait = mostWaitMillis * MILLI;
    this.mostWaiting = mostWaiting;
    this.mostUsage = mostUsage;
    this.keepsContexts = keepsContexts;
  }

  @Override
  public double saturation(Endpoint endpoint) {
    double most = Math.max(queue(endpoint), line(endpoint));
    most = Math.max(most, seats(endpoint));
    return Math.max(most, usage(endpoint) / mostUsage);
  }

  @Override
  public String limit(Endpoint endpoint) {
    double most = saturation(endpoint);
    if (most == usage(endpoint) / mostUsage) {
      return "KV cache";
    }
    if (most == seats(endpoint)) {
      return "seats in its batch";
    }
    return most == line(endpoint) ? "prompts in line" : "requests waiting";
  }

  /** Of the queue that the server tells of, unless it is one for the turns of adapters. */
  private double queue(Endpoint endpoint) {
    return endpoint.adapters().contended() ? 0 : endpoint.scrapedWaiting() / mostWaiting;
  }

  /**
   * Of the wait for a first token behind those who are in line, unless they wait for the turns of
   * adapters.
   */
  private double line(Endpoint endpoint) {
    return endpoint.prefills().watched() > 1 && !endpoint.adapters().contended()
        ? endpoint.expectedWait() / mostWait
        : 0;
  }

  /**
   * Of its seats in the batch, where they are known: full is an engine whose seats are all taken.
   * It fills over the last few of them, in multiples of the root of their number: that is the scale
   * on which the wait for one falls as more are free (Halfin and Whitt, "Heavy-traffic limits for
   * queues with many exponential servers", Operations Research 29(3), 1981).
   */
  private static double seats(Endpoint endpoint) {
    int seats = endpoint.seats();
    if (seats == 0) {
      return 0;
    }
    int free = seats - endpoint.watchedSequences() - endpoint.foreignInFlight();
    return Math.max(0, 1 - free / (FILLING * Math.sqrt(seats)));
  }

  @Override
  public boolean keepsContexts() {
    return keepsContexts;
  }

  @Override
  public void completed(Completion completion) {
    int output = OutputLengths.tokens(completion);
    if (output >= 1) {
      outputs.add(completion.targetModel(), output);
    }
  }

  /**
   * Of its KV cache: as it tells itself or, where it doesn't, by what was sent there. While it is
   * more than half full what counts is also what those that are there will keep in the mean of
   * their time: answers grow, so that an engine which is let fill up with young ones ends them
   * again and again to begin them anew.
   */
  private double usage(Endpoint endpoint) {
    double told = endpoint.kvUsage();
    if (told < HALF) {
      return told;
    }
    long capacity = endpoint.kvCapacityTokens();
    if (capacity == 0) {
      return Double.isNaN(told) ? 0 : told;
    }
    double kept = (double) endpoint.inFlightTokens() - endpoint.repeatedInFlightTokens();
    if (Double.isNaN(told)) {
      return kept / capacity;
    }
    // A standard deviation more, as of so many exponentials: at the mean they would not fit half
    // of the time.
    double n = endpoint.sequences();
    return Math.max(told, (kept + (n + Math.sqrt(n)) * outputs.underWay()) / capacity);
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "expected-wait-detector";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new ExpectedWaitDetector(
          parameters.number("maxWaitMs", 30, 1, 1_000_000),
          parameters.integer("queueDepthThreshold", 5, 1, 1_000_000),
          parameters.number("kvCacheUtilThreshold", 0.95, 0.01, 1),
          parameters.flag("keepContexts", true));
    }
  }
}
