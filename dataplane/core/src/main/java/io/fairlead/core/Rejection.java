package io.fairlead.core;

import io.fairlead.crds.config.Criticality;

/**
 * Why a request is not sent anywhere (any more).
 *
 * @param reason what happened
 * @param criticality of the model asked for
 * @param message for the client: what is wrong and what helps; no addresses, no prompt
 */
public record Rejection(Reason reason, Criticality criticality, String message) {

  /** The kinds of rejection with their HTTP answer. */
  public enum Reason {
    /** The pool has no endpoint that is ready. */
    NO_READY_ENDPOINTS(503, "no_ready_endpoints", 1),
    /** No config has been applied yet. */
    NOT_CONFIGURED(503, "not_configured", 1),
    /** Filters left no endpoint for this request. */
    NO_SUITABLE_ENDPOINT(503, "no_suitable_endpoint", 1),
    /** The request is sheddable and every endpoint is full. */
    SATURATED(429, "saturated", 1),
    /** Every endpoint tried failed before its first byte. */
    UPSTREAM_FAILED(502, "upstream_failed", -1);

    private final int status;
    private final String code;
    private final int retryAfterSeconds;

    Reason(int status, String code, int retryAfterSeconds) {
      this.status = status;
      this.code = code;
      this.retryAfterSeconds = retryAfterSeconds;
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
  }
}
