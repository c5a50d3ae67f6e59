package io.fairlead.lab.simulator;

import io.fairlead.lab.simulator.Membership.Change;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/** Which shares events make right, by what servers can do. */
final class RightShares {

  /** What lasts shorter than that shows nothing. */
  private static final double SHORTEST_SECONDS = 20;

  private final Membership membership;
  private final List<ServerEvent> lasting;
  private final int first;

  private RightShares(SimulationSpec spec) {
    membership = Membership.of(spec.pool(), spec.events());
    first = spec.pool().engines().size();
    lasting =
        spec.events().stream()
            .filter(ServerEvent.class::isInstance)
            .map(ServerEvent.class::cast)
            .filter(event -> event.kind().lasts())
            .toList();
  }

  /** Those of each change, in the order of time; none where servers are of several kinds. */
  static List<RightShare> of(SimulationSpec spec) {
    RightShares shares = new RightShares(spec);
    boolean alike =
        shares.membership.members().stream().map(Membership.Member::engine).distinct().count() == 1;
    return alike ? shares.all(spec.settings().seconds()) : List.of();
  }

  private List<RightShare> all(double runSeconds) {
    TreeSet<Double> times = new TreeSet<>();
    membership.changes().forEach(change -> times.add(change.at()));
    lasting.forEach(
        event -> {
          times.add(event.at());
          times.add(event.end());
        });
    times.removeIf(time -> time >= runSeconds);
    List<RightShare> all = new ArrayList<>();
    for (double time : times) {
      Double next = times.higher(time);
      double until = next == null ? runSeconds : next;
      if (until - time >= SHORTEST_SECONDS) {
        of(time, until, all);
      }
    }
    return all;
  }

  private void of(double time, double until, List<RightShare> all) {
    double[] before = speeds(Math.nextDown(time));
    double[] speeds = speeds(time);
    double sum = DoubleStream.of(speeds).sum();
    for (int server = 0; server < speeds.length; server++) {
      if (speeds[server] > 0 && speeds[server] != before[server]) {
        all.add(
            new RightShare(
                "server-" + server, what(server, time), time, until, speeds[server] / sum));
      }
    }
  }

  private String what(int server, double time) {
    return lasting.stream()
        .filter(event -> event.server() == server && event.at() == time)
        .map(ServerEvent::what)
        .findFirst()
        .orElseGet(
            () ->
                membership.changes().stream()
                        .anyMatch(change -> change.server() == server && change.at() == time)
                    ? "there"
                    : "as usual");
  }

  private double[] speeds(double time) {
    return IntStream.range(0, membership.members().size())
        .mapToDouble(server -> there(server, time) ? speed(server, time) : 0)
        .toArray();
  }

  private boolean there(int server, double time) {
    boolean there = server < first;
    for (Change change : membership.changes()) {
      if (change.server() == server && change.at() <= time) {
        there = change.there();
      }
    }
    return there;
  }

  /** Over that of one that is as usual. */
  private double speed(int server, double time) {
    double speed = 1;
    double since = -1;
    for (ServerEvent event : lasting) {
      if (event.server() != server || event.at() > time || event.end() <= time) {
        continue;
      }
      switch (event.kind()) {
        case SLOW -> {
          if (event.at() >= since && speed > 0) {
            speed = 1 / event.amount();
            since = event.at();
          }
        }
        case REFUSE, SWALLOW, FAIL_FAST, FAIL_LATE, FREEZE, FREEZE_LIVE, DRAIN, RESTART ->
            speed = 0;
        case METRICS_GONE, UNHEALTHY, LEAVE, RESET_CACHE -> {}
      }
    }
    return speed;
  }
}
