package io.fairlead.core.plugins.flow;

import io.fairlead.plugin.FairnessPolicy;
import io.fairlead.plugin.Flow;
import io.fairlead.plugin.Flows;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * Upstream's {@code program-aware-fairness} with its strategy {@code las}, least attained service:
 * the flow goes next that got little of late, or whose first request has waited long, each relative
 * to the most of all flows. What a flow got is forgotten with a half-life.
 */
final class ProgramFairness implements FairnessPolicy {

  private static final double SECOND = 1e9;

  private final double byService;
  private final double byWait;
  private final double halfLifeSeconds;
  private final Map<Flow, Service> services = new WeakHashMap<>();
  private double[] attained = {};

  /** What a flow got, forgotten by and by. */
  private static final class Service {
    private double counted;
    private double recent;
    private long at;

    private Service(Flow flow, long now) {
      counted = flow.served();
      recent = flow.served();
      at = now;
    }

    private double at(long now, double served, double halfLifeSeconds) {
      recent *= Math.pow(0.5, Math.max(0, now - at) / SECOND / halfLifeSeconds);
      recent = Math.max(0, recent + served - counted);
      counted = served;
      at = now;
      return recent;
    }
  }

  ProgramFairness(double byService, double byWait, double halfLifeSeconds) {
    this.byService = byService;
    this.byWait = byWait;
    this.halfLifeSeconds = halfLifeSeconds;
  }

  @Override
  public int next(long now, Flows flows) {
    int size = flows.size();
    if (attained.length < size) {
      attained = new double[size + size / 2];
    }
    double mostAttained = 0;
    double longestWait = 0;
    for (int i = 0; i < size; i++) {
      Flow flow = flows.get(i);
      Service service = services.computeIfAbsent(flow, made -> new Service(made, now));
      attained[i] = service.at(now, flow.served(), halfLifeSeconds);
      mostAttained = Math.max(mostAttained, attained[i]);
      longestWait = Math.max(longestWait, (double) (now - flow.head().since()));
    }
    int best = 0;
    double most = Double.NEGATIVE_INFINITY;
    for (int i = 0; i < size; i++) {
      double share = mostAttained > 0 ? attained[i] / mostAttained : 0;
      double wait = longestWait > 0 ? (now - flows.get(i).head().since()) / longestWait : 0;
      double score = byService * (1 - share) + byWait * wait;
      if (score > most) {
        most = score;
        best = i;
      }
    }
    return best;
  }
}
