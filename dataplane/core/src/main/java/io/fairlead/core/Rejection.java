package io.fairlead.core;

import io.fairlead.crds.config.Criticality;

/**
 * Why a request is not sent anywhere (any more).
 *
 * @param reason what happened
 * @param criticality of its objective, or else of the model asked for
 * @param message for the client: what is wrong and what helps; no addresses, no prompt
 */
public record Rejection(Reason reason, Criticality criticality, String message) {

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
    /** Every endpoint tried failed before its first byte. */
    UPSTREAM_FAILED(
        502, "upstream_failed", -1, "The model servers tried did not answer this request."),
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

    /** Seconds for {@code Retry-After}, or -1 for none. */
    public int retryAfterSeconds() {
      return retryAfterSeconds;
    }

    /** For the client, when nothing more precise is known. */
    public String message() {
      return message;
    }
  }
}
