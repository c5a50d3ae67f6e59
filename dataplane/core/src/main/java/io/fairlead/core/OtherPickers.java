package io.fairlead.core;

import io.fairlead.core.Contexts.Context;
import io.fairlead.core.account.SharedBlocks;
import io.fairlead.core.handover.News;
import io.fairlead.core.handover.SentRequest;
import io.fairlead.core.handover.SentRequests;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The pool's other pickers, and what they have in flight as far as they have told: it counts at its
 * endpoints like what was sent from here, so that load and the room of caches are known that others
 * take. Nothing is judged by it, and nothing learned of speeds.
 *
 * <p>What one has told counts until it tells of its end. One that falls silent may have died, or be
 * cut off while it serves on: its requests age out, and sooner where their endpoints tell of fewer
 * than are counted there.
 */
final class OtherPickers {

  /** Of one picker: more are not counted. */
  private static final int MOST_REQUESTS = 1 << 16;

  /** So late a request may show in what its endpoint tells: it is on its way, and read in steps. */
  private static final long ON_ITS_WAY = 1_000_000_000;

  private static final Comparator<Happened> OLDEST =
      Comparator.comparingLong(Happened::age).reversed();

  private final EndpointSet endpoints;
  private final Contexts contexts;
  private final Map<Long, Picker> pickers = new HashMap<>();

  /** Of {@link #pickers}, those that tell. */
  private int telling;

  /** Something that one tells of, so many nanoseconds ago when it was told. */
  private record Happened(long age, Runnable effect) {}

  /** What one has in flight. */
  private static final class Picker {

    private boolean tells;

    /** First told, first here. */
    private final Map<Long, Flight> requests = new LinkedHashMap<>();
  }

  OtherPickers(EndpointSet endpoints, Contexts contexts) {
    this.endpoints = endpoints;
    this.contexts = contexts;
  }

  /** How many tell. */
  int telling() {
    return telling;
  }

  /** It tells from now on. */
  void tells(long number) {
    Picker picker = pickers.computeIfAbsent(number, _ -> new Picker());
    telling += picker.tells ? 0 : 1;
    picker.tells = true;
  }

  /** It tells no more. */
  void silent(long now, long number) {
    Picker picker = pickers.get(number);
    if (picker != null && picker.tells) {
      picker.tells = false;
      telling--;
      for (Flight flight : picker.requests.values()) {
        flight.leftAt = now;
        flight.expected =
            flight.attempt.at == null ? 0 : LeftRequests.expected(flight.attempt.at, -1);
      }
      if (picker.requests.isEmpty()) {
        pickers.remove(number);
      }
    }
  }

  /**
   * It tells what became of its requests. That is taken in as it happened: a request may go on with
   * what another has left that ended just before it was sent.
   *
   * @param taking knows which endpoints are the same here
   */
  void heard(long now, long number, News news, TakeOver taking) {
    Picker picker = pickers.get(number);
    if (picker == null) {
      return;
    }
    if (news.anew()) {
      picker.requests.values().forEach(flight -> end(now, flight));
      picker.requests.clear();
    }
    List<Happened> all = new ArrayList<>();
    for (SentRequests told : news.sent()) {
      EndpointState at = endpoints.named(told.endpoint().name());
      if (at != null && taking.endpoint(told.endpoint(), told.startedAt(), 0)) {
        for (SentRequest request : told.requests()) {
          collect(now, picker, at, request, taking, all);
        }
      }
    }
    for (News.Computed told : news.computed()) {
      all.add(new Happened(told.age(), () -> computed(now, picker, told)));
    }
    for (News.Over told : news.over()) {
      all.add(new Happened(told.end().age(), () -> over(now, picker, told)));
    }
    all.sort(OLDEST);
    all.forEach(one -> one.effect().run());
  }

  /** One that is told of together with its end never counts as in flight. */
  private void collect(
      long now,
      Picker picker,
      EndpointState at,
      SentRequest told,
      TakeOver taking,
      List<Happened> all) {
    if (picker.requests.containsKey(told.number())) {
      return;
    }
    Flight flight = Flight.ofAnother(now, told);
    all.add(new Happened(told.age(), () -> sent(now, picker, at, told, flight, taking)));
    News.End end = told.end();
    if (end != null) {
      all.add(new Happened(end.age(), () -> rests(now, flight, end)));
      at.hadRequestUntil(now - end.age());
    }
  }

  private void sent(
      long now, Picker picker, EndpointState at, SentRequest told, Flight flight, TakeOver taking) {
    long[] blocks = told.prompt().salted();
    if (blocks.length > 0) {
      taking.sent(at, blocks);
    }
    Attempt attempt = flight.attempt;
    attempt.at = at;
    attempt.blocks = blocks.length;
    attempt.thereSince = told.load().computes() ? attempt.sentAt : now;
    if (blocks.length > 0 && told.load().answers() > 0) {
      attempt.lastBlock = blocks[blocks.length - 1];
      Context before = contexts.find(0, blocks, blocks.length);
      // Nobody has held it back here.
      long likeness = attempt.lastBlock;
      contexts.came(likeness, before);
      flight.ownTokens = contexts.sent(attempt.sentAt, likeness, attempt, at, before);
    }
    attempt.sampledBlocks = SharedBlocks.sample(blocks, blocks.length, attempt.sampledBlocks);
    if (told.end() == null && picker.requests.size() < MOST_REQUESTS) {
      picker.requests.put(told.number(), flight);
      at.toldOf(now, flight, blocks);
      if (told.computed()) {
        at.decodes(now, flight);
      } else if (told.load().computes()) {
        at.prefills().add(attempt.sentAt, flight);
        at.publish();
      }
    }
  }

  /** A prompt that it had sent is computed. */
  private static void computed(long now, Picker picker, News.Computed told) {
    Flight flight = picker.requests.get(told.number());
    if (flight != null && flight.attempt.at != null) {
      EndpointState at = flight.attempt.at;
      long then = now - told.age();
      if (flight.inLine) {
        at.prefills().remove(then, flight);
        at.toldOfFirstToken(then);
      } else if (flight.state().isPrefilling()) {
        flight.attempt.thereSince = then;
      }
      if (flight.state().isPrefilling()) {
        at.decodes(now, flight);
      }
    }
  }

  /** A request of its is over. */
  private void over(long now, Picker picker, News.Over told) {
    Flight flight = picker.requests.remove(told.number());
    if (flight != null) {
      rests(now, flight, told.end());
      end(now, flight);
    }
  }

  private void rests(long now, Flight flight, News.End end) {
    EndpointState at = flight.attempt.at;
    if (at != null && end.answerTokens() >= 0) {
      contexts.rests(now - end.age(), flight, at, end.answerTokens());
    }
  }

  /** Takes it off the account. */
  private void end(long now, Flight flight) {
    EndpointState at = flight.attempt.at;
    if (at != null) {
      if (flight.inLine) {
        at.prefills().remove(now, flight);
      }
      at.ended(now, flight, !flight.state().isPrefilling());
      flight.clear();
      endpoints.ended(at);
    }
  }

  /**
   * An endpoint has told of its requests. As many of those that are silent are over as it has fewer
   * than are counted, oldest first.
   */
  void scraped(long now, EndpointState at, long begunAt, EndpointMetrics metrics) {
    if (pickers.size() == telling || metrics.waiting() < 0 || metrics.running() < 0) {
      return;
    }
    int told = metrics.waiting() + metrics.running();
    if (at.sequences() <= told) {
      return;
    }
    long moment = begunAt - ON_ITS_WAY;
    int over = countThere(at, moment) - told;
    for (Picker picker : pickers.values()) {
      if (!picker.tells) {
        Iterator<Flight> oldest = picker.requests.values().iterator();
        while (over > 0 && oldest.hasNext()) {
          Flight flight = oldest.next();
          if (isThere(flight, at, moment) && over >= flight.attempt.answers) {
            over -= flight.attempt.answers;
            oldest.remove();
            end(now, flight);
          }
        }
      }
    }
  }

  /**
   * How many sequences its server has had since this moment or longer, and must have shown since,
   * whoever has sent them.
   */
  private int countThere(EndpointState at, long moment) {
    int there = at.requests().countThere(moment);
    for (Flight flight = at.prefills().head(); flight != null; flight = flight.after) {
      boolean forAnother = flight.attempt.prefillAt == at;
      there += forAnother && flight.attempt.sentAt - moment <= 0 ? 1 : 0;
    }
    for (Picker picker : pickers.values()) {
      for (Flight flight : picker.requests.values()) {
        there += isThere(flight, at, moment) ? flight.attempt.answers : 0;
      }
    }
    return there;
  }

  /** Not as long as another server computes its prompt. */
  private static boolean isThere(Flight flight, EndpointState at, long moment) {
    return flight.attempt.at == at
        && flight.attempt.thereSince - moment <= 0
        && (flight.inLine || !flight.state().isPrefilling());
  }

  /** Time has moved on. */
  void tick(long now) {
    if (pickers.size() == telling) {
      return;
    }
    for (Iterator<Picker> all = pickers.values().iterator(); all.hasNext(); ) {
      Picker picker = all.next();
      if (!picker.tells) {
        picker.requests.values().removeIf(flight -> isOver(now, flight));
        if (picker.requests.isEmpty()) {
          all.remove();
        }
      }
    }
  }

  private boolean isOver(long now, Flight flight) {
    EndpointState at = flight.attempt.at;
    boolean over = at == null || LeftRequests.isOver(now, flight, at);
    if (over) {
      end(now, flight);
    }
    return over;
  }
}
