package io.fairlead.lab.simulator;

import io.fairlead.stub.engine.EngineProfile;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Which servers a pool has in the course of a run, by the events that change it. Of those that are
 * due at the same time the first named comes first; what ends comes before what begins.
 *
 * @param members all that are ever there, by their numbers
 * @param changes of who is there, by time; those that are there from the start are in none
 */
record Membership(List<Member> members, List<Change> changes) {

  Membership {
    members = List.copyOf(members);
    changes = List.copyOf(changes);
  }

  /**
   * A server.
   *
   * @param engine what it is
   * @param site what it is there for; one that joins later is there for all
   * @param joinedAt when it is there first, in seconds from the start of the run
   * @param firstRequestSeconds how long the first completion that it gets is held up
   */
  record Member(EngineProfile engine, Site site, double joinedAt, double firstRequestSeconds) {}

  /**
   * Somebody comes or goes.
   *
   * @param at seconds from the start of the run
   * @param server its number
   * @param there whether it is there from then on
   */
  record Change(double at, int server, boolean there) {}

  /** Works it out, event after event. */
  private static final class Draft {

    private final PoolSpec pool;
    private final List<Member> members = new ArrayList<>();
    private final List<Change> changes = new ArrayList<>();

    /** Of each server, how many events keep it away. */
    private final List<Integer> away = new ArrayList<>();

    Draft(PoolSpec pool) {
      this.pool = pool;
      for (int i = 0; i < pool.engines().size(); i++) {
        add(new Member(pool.engines().get(i), pool.sites().get(i), 0, 0));
      }
    }

    void add(Member member) {
      members.add(member);
      away.add(0);
    }

    void join(double at, int count, @Nullable EngineProfile engine, double firstRequest) {
      EngineProfile what = Objects.requireNonNullElse(engine, pool.engines().getFirst());
      for (int i = 0; i < count; i++) {
        changes.add(new Change(at, members.size(), true));
        add(new Member(what, Site.ANY, at, firstRequest));
      }
    }

    void keptAway(double at, int server, int more) {
      int before = away.get(server);
      away.set(server, before + more);
      if ((before == 0) != (before + more == 0)) {
        changes.add(new Change(at, server, before + more == 0));
      }
    }

    void scale(PoolScale scale) {
      int there = (int) away.stream().filter(count -> count == 0).count();
      join(
          scale.at(),
          Math.max(0, scale.servers() - there),
          scale.engine(),
          scale.firstRequestSeconds());
      for (int i = members.size() - 1; there > scale.servers(); i--) {
        if (away.get(i) == 0) {
          keptAway(scale.at(), i, 1);
          there--;
        }
      }
    }

    void check(ServerEvent event) {
      if (event.server() >= members.size()) {
        throw new IllegalArgumentException(
            "scenario: %s at %s s: server is %d, but %s has the servers 0 to %d then"
                .formatted(
                    event.kind().word(),
                    shown(event.at()),
                    event.server(),
                    pool.text(),
                    members.size() - 1));
      }
    }
  }

  /** One end of an event. */
  private record Instant(double at, boolean begins, ScenarioEvent event) {}

  /**
   * Works it out.
   *
   * @throws IllegalArgumentException if something happens to a server that is none of the pool's
   */
  static Membership of(PoolSpec pool, List<ScenarioEvent> events) {
    List<Instant> instants = new ArrayList<>();
    for (ScenarioEvent event : events) {
      instants.add(new Instant(event.at(), true, event));
      if (event instanceof ServerEvent left
          && left.kind() == ServerEvent.Kind.LEAVE
          && Double.isFinite(left.end())) {
        instants.add(new Instant(left.end(), false, event));
      }
    }
    instants.sort(Comparator.comparingDouble(Instant::at).thenComparing(Instant::begins));
    Draft draft = new Draft(pool);
    for (Instant instant : instants) {
      switch (instant.event()) {
        case ServerEvent event -> {
          draft.check(event);
          if (event.kind() == ServerEvent.Kind.LEAVE) {
            draft.keptAway(instant.at(), event.server(), instant.begins() ? 1 : -1);
          }
        }
        case ServersJoin join ->
            draft.join(join.at(), join.count(), join.engine(), join.firstRequestSeconds());
        case PoolScale scale -> draft.scale(scale);
        case PickerRestart _ -> {}
      }
    }
    return new Membership(draft.members, draft.changes);
  }

  static String shown(double number) {
    return number == Math.rint(number) ? Long.toString((long) number) : Double.toString(number);
  }
}
