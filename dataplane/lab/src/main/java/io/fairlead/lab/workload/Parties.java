package io.fairlead.lab.workload;

import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.LatencyConfig;
import io.fairlead.lab.workload.Mix.Part;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongFunction;

/** Requests of several who ask for different things, each for a model of its own. */
record Parties(List<Party> all) {

  /**
   * One who asks.
   *
   * @param model asked for
   * @param criticality of its requests
   * @param share of all requests
   * @param question tokens of a prompt
   * @param output tokens of an answer
   * @param latency what is asked for
   */
  record Party(
      String model,
      Criticality criticality,
      double share,
      Spread question,
      Spread output,
      LatencyConfig latency) {

    /** One who asks for no latency. */
    Party(String model, Criticality criticality, double share, Spread question, Spread output) {
      this(model, criticality, share, question, output, LatencyConfig.UNSET);
    }

    /** The same, who wants the first token and each after it within so many milliseconds. */
    Party within(long firstToken, long eachToken) {
      return new Party(
          model,
          criticality,
          share,
          question,
          output,
          new LatencyConfig(Duration.ofMillis(firstToken), Duration.ofMillis(eachToken)));
    }

    private Singles requests() {
      Caller caller = new Caller(model, "");
      return new Singles(0, question, output, random -> caller);
    }
  }

  Parties {
    all = List.copyOf(all);
    double sum = all.stream().mapToDouble(Party::share).sum();
    if (Math.abs(sum - 1) > 1e-9) {
      throw new IllegalArgumentException("shares add up to " + sum + "; let them add up to 1");
    }
  }

  List<ServedModel> models() {
    return all.stream()
        .map(party -> new ServedModel(party.model(), party.criticality(), false, party.latency()))
        .toList();
  }

  /** What the n-th request of a run is. */
  LongFunction<RequestShape> requests(long seed) {
    List<LongFunction<RequestShape>> each =
        all.stream().map(party -> party.requests().requests(seed)).toList();
    return n -> each.get(drawn(Mix.random(seed, Part.CALLER, n))).apply(n);
  }

  private int drawn(SplittableRandom random) {
    double left = random.nextDouble();
    int at = 0;
    while (at < all.size() - 1 && left >= all.get(at).share()) {
      left -= all.get(at++).share();
    }
    return at;
  }
}
