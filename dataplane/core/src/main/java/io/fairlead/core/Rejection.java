package io.fairlead.core;

import io.fairlead.crds.config.Criticality;

/**
 * Why a request is not sent anywhere (any more).
 *
 * @param reason what happened
 * @param criticality of its objective, or else of the model asked for
 * @param message for the client: what is wrong and what helps; no addresses, no prompt
 * @param retryAfterSeconds when it may come again; -1 where nothing is known of that
 */
public record Rejection(
    Reason reason, Criticality criticality, String message, int retryAfterSeconds) {

  /** A rejection after which clients may come again when they usually do. */
  public Rejection(Reason reason, Criticality criticality, String message) {
    this(reason, criticality, message, reason.retryAfterSeconds());
  }

  /** The kinds of rejection with their HTTP answer. */
  public enum Reason {
    /** The pool has no endpoint that is ready. */
    NO_READY_ENDPOINTS(
        503, "no_ready_endpoints", 1, "No model server of this pool is ready. Try again shortly."),
    /** No config has been applied yet. */
    NOT_CONFIGURED(
        503, "not_configured", 1, "The scheduler has no configuration yet. Try again shortly."),
    /** Filters left no endpoint for this request. */
    NO_SUITABLE_ENDPOINT(
        429,
        "no_suitable_endpoint",
        1,
        "No model server that is ready suits this request. Try again shortly."),
    /** The request is sheddable and every endpoint is full. */
    SATURATED(
        429,
        "saturated",
        1,
        "All model servers are full and this model's requests are sheddable. Try again later, or"
            + " have the model's criticality raised."),
    /** Every endpoint is full, and as many requests wait as may. */
    QUEUE_FULL(
        429,
        "queue_full",
        1,
        "All model servers are full, and so is the queue of requests that wait. Try again later."),
    /** It has waited for a free endpoint as long as it may. */
    QUEUE_TIMEOUT(
        429,
        "queue_timeout",
        1,
        "All model servers were full for as long as this request may wait. Try again later."),
    /**
     * It waited for a free endpoint until its first token was to be there; or it is sheddable, may
     * not wait, and no endpoint can keep its latency objective.
     */
    OBJECTIVE_MISSED(
        429,
        "objective_missed",
        1,
        "No model server is free enough for this request's latency objective. Try again later, or"
            + " allow more time."),
    /** It waited, and made room for a request that is more important. */
    EVICTED(
        429,
        "evicted",
        1,
        "All model servers are full, and this request had to make room in the queue for one that"
            + " goes first. Try again later."),
    /** It was sent, and made room for a request that is more important. */
    EVICTED_IN_FLIGHT(
        429,
        "evicted_in_flight",
        1,
        "All model servers are full, and this request was ended before its answer began to make"
            + " room for one that goes first. Try again later."),
    /** It waited until the process was about to end. */
    SHUTTING_DOWN(503, "shutting_down", 1, "The scheduler is shutting down. Try again."),
    /** Every endpoint tried failed before its first byte. */
    UPSTREAM_FAILED(
        502, "upstream_failed", -1, "The model servers tried did not answer this request."),
    /** This process has no socket left to connect to a model server with. */
    NO_SOCKET(
        503,
        "no_socket",
        1,
        "The scheduler has no socket left for a connection to a model server. Try again shortly."),
    /** No byte of an answer came in time. */
    FIRST_BYTE_TIMEOUT(
        504, "first_byte_timeout", -1, "The model server did not begin to answer in time."),
    /** The answer stopped coming. */
    SILENCE_TIMEOUT(504, "silence_timeout", -1, "The model server stopped answering."),
    /** The whole of it took too long. */
    TOTAL_TIMEOUT(504, "timeout", -1, "The request took longer than it may."),
    /** A scheduling plugin broke its contract. */
    PLUGIN_FAILED(
        500, "plugin_failed", -1, "The scheduler failed to place this request; see its log.");

    private final int status;
    private final String code;
    private final int retryAfterSeconds;
    private final String message;

    Reason(int status, String code, int retryAfterSeconds, String message) {
      this.status = status;
      this.code = code;
      this.retryAfterSeconds = retryAfterSeconds;
      this.message = message;
    }

    /** HTTP status. */
    public int status() {
      return status;
    }

    /** Machine-readable name, used in error bodies, headers and metrics. */
    public String code() {
      return code;
    }

    /** Whether there was no room, and is again when others are through. */
    boolean ofRoom() {
      return this == SATURATED
          || this == QUEUE_FULL
          || this == QUEUE_TIMEOUT
          || this == OBJECTIVE_MISSED
          || this == EVICTED
          || this == EVICTED_IN_FLIGHT;
    }

    /** Seconds for {@code Retry-After} where nothing better is known, or -1 for none. */
    public int retryAfterSeconds() {
      return retryAfterSeconds;
    }

    /** For the client, when nothing more precise is known. */
    public String message() {
      return message;
    }
  }
}
