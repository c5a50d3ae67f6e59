package io.fairlead.core.health;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The endpoints that refuse one model of late, which others serve: they get the fewer of its
 * requests, the more of them they refuse. Valid until the next event.
 */
public final class Refusers {

  /** So many refusals with nothing served in between are no chance. */
  private static final int LACKS_IT = 3;

  /** What one endpoint has shown for the model. */
  private static final class Refusal {
    final FailureEstimate estimate = new FailureEstimate();

    /** Refusals since the model was served there. */
    int inRow;

    /** When it last answered for the model, whatever it answered. */
    long told;

    /** Which of the requests for the model that the pool sent was the last that it got. */
    long sendsBefore;

    /** Share of the model's requests that it is left in the draw for. */
    double share = 1;

    Refusal(long sendsBefore) {
      this.sendsBefore = sendsBefore;
    }
  }

  private final Map<EndpointHealth, Refusal> refusals = new HashMap<>();

  /** By place; null for those that don't refuse it. */
  private @Nullable Refusal[] places = {};

  private boolean stale = true;

  /** Requests for the model that were sent since one was refused. */
  private long sends;

  /** How many endpoints get requests, and how many of them are spared those for the model. */
  private int usable;

  private int spared;

  Refusers() {}

  /**
   * Whether a request for the model leaves the endpoint in this place out, because it might refuse
   * it.
   *
   * @param lot random bits of the request and the endpoint
   */
  public boolean drawnOut(int place, long lot) {
    Refusal refusal = places[place];
    return refusal != null && PoolHealth.drawnOut(refusal.share, lot);
  }

  /**
   * Whether the endpoint in this place has refused the model, and was not asked for it since,
   * though others were for so many requests that it has got fewer than its part.
   */
  public boolean untried(long now, int place) {
    Refusal refusal = places[place];
    return refusal != null
        && PoolHealth.isSpared(refusal.share)
        && now - refusal.told >= PoolHealth.UNTRIED
        && PoolHealth.isLong(sends - refusal.sendsBefore, usable, spared);
  }

  /** A request for the model was sent there. */
  void sent(EndpointHealth endpoint) {
    sends++;
    Refusal refusal = refusals.get(endpoint);
    if (refusal != null) {
      refusal.sendsBefore = sends;
    }
  }

  /** How many endpoints there are. */
  int count() {
    return refusals.size();
  }

  boolean has(EndpointHealth endpoint) {
    return refusals.containsKey(endpoint);
  }

  void refused(long now, EndpointHealth endpoint, boolean begun) {
    Refusal refusal = refusals.computeIfAbsent(endpoint, _ -> new Refusal(sends));
    refusal.estimate.failed(now, begun);
    refusal.inRow++;
    refusal.told = now;
    stale = true;
  }

  void served(long now, EndpointHealth endpoint) {
    Refusal refusal = refusals.get(endpoint);
    if (refusal != null) {
      if (refusal.inRow >= LACKS_IT) {
        // It did not have the model, and has it now. As one that is back from being out it counts
        // as having failed once.
        refusal.estimate.forget();
        refusal.estimate.failed(now, false);
      }
      refusal.inRow = 0;
      refusal.estimate.succeeded(now);
      refusal.told = now;
      stale = true;
    }
  }

  void forget(EndpointHealth endpoint) {
    stale |= refusals.remove(endpoint) != null;
  }

  /** Lets time pass, and forgets those of which no refusal counts any more. */
  void age(long now) {
    refusals.values().forEach(refusal -> refusal.estimate.age(now));
    refusals.values().removeIf(refusal -> refusal.estimate.probability() == 0);
    stale = true;
  }

  /** Others have other places now, and some may have left. */
  void replaced() {
    refusals.keySet().removeIf(endpoint -> endpoint.gone);
    stale = true;
  }

  /** Works the shares out, if something has changed: beside the one that is best for the model. */
  void refresh(EndpointHealth[] endpoints, UsableEndpoints usable) {
    if (!stale) {
      return;
    }
    stale = false;
    this.usable = usable.count();
    if (places.length != endpoints.length) {
      places = new Refusal[endpoints.length];
    }
    for (int place = 0; place < endpoints.length; place++) {
      places[place] = refusals.get(endpoints[place]);
    }
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i < usable.count(); i++) {
      Refusal refusal = places[usable.place(i)];
      least =
          Math.min(
              least, refusal == null ? 1 : FailureEstimate.risk(refusal.estimate.probability()));
    }
    spared = 0;
    for (Refusal refusal : places) {
      if (refusal != null) {
        refusal.share = least / FailureEstimate.risk(refusal.estimate.probability());
        spared += PoolHealth.isSpared(refusal.share) ? 1 : 0;
      }
    }
  }
}
