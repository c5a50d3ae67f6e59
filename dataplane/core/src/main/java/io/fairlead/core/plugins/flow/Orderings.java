package io.fairlead.core.plugins.flow;

import io.fairlead.plugin.OrderingPolicy;
import io.fairlead.plugin.WaitingRequest;

/** The orders in which the requests of one flow go. */
enum Orderings implements OrderingPolicy {
  /** As they came. */
  FIRST_COME {
    @Override
    public long rank(WaitingRequest request) {
      return 0;
    }
  },
  /** Who goes on with a conversation before those who begin one, and as they came among each. */
  CONVERSATIONS {
    @Override
    public long rank(WaitingRequest request) {
      return request.goesOn() ? 0 : 1;
    }
  },
  /** Who will first have waited as long as it may. */
  EARLIEST_DEADLINE {
    @Override
    public long rank(WaitingRequest request) {
      return request.expiresAt();
    }
  },
  /** Whose first token is due first; those without a latency objective come last. */
  LATENCY_OBJECTIVE {
    @Override
    public long rank(WaitingRequest request) {
      return request.firstTokenBy();
    }
  },
  /** The same, and who is late by then is not served any more. */
  LATENCY_OBJECTIVE_OR_NOT_AT_ALL {
    @Override
    public long rank(WaitingRequest request) {
      return request.firstTokenBy();
    }

    @Override
    public long wantedUntil(WaitingRequest request) {
      return request.firstTokenBy();
    }
  }
}
