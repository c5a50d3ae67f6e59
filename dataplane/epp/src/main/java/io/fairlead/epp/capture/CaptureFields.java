package io.fairlead.epp.capture;

/**
 * Names of what is written, for whoever reads it. {@code docs/traces.md} says what each means.
 *
 * <p>A capture is pairs of files, {@code STEM-NUMBER.requests.jsonl} and {@code
 * STEM-NUMBER.state.jsonl}. The first has a line for each request, in Mooncake's form with more
 * fields; the second all else that the core was told.
 */
public final class CaptureFields {

  /** Version of the form; a reader refuses one that it does not know. */
  public static final int VERSION = 5;

  /** The form without ticks, probes, and what is known of a request but its length. */
  public static final int FIRST_VERSION = 1;

  /** End of the names of files of requests. */
  public static final String REQUESTS_SUFFIX = ".requests.jsonl";

  /** End of the names of files of all else. */
  public static final String STATE_SUFFIX = ".state.jsonl";

  /** What the names of all files begin with. */
  public static final String PREFIX = "capture-";

  /** Tokens that each of {@code hash_ids} stands for. */
  public static final int HASH_ID_TOKENS = 512;

  /** Kind of the first line of a file of state. */
  public static final String KIND_CAPTURE = "capture";

  /** Kind of a config that came into force. */
  public static final String KIND_CONFIG = "config";

  /** Kind of a set of endpoints that came into force. */
  public static final String KIND_ENDPOINTS = "endpoints";

  /** Kind of a number of pickers that share the pool. */
  public static final String KIND_REPLICAS = "replicas";

  /** Kind of a scrape that was taken in. */
  public static final String KIND_SCRAPE = "scrape";

  /** Kind of scrapes that failed. */
  public static final String KIND_UNREACHABLE = "unreachable";

  /** Kind of passing time that the core was told of. */
  public static final String KIND_TICKS = "ticks";

  /** Kind of a probe that was answered, or failed. */
  public static final String KIND_PROBED = "probed";

  /** Kind of a probe that the core wanted and that nobody was asked. */
  public static final String KIND_UNASKED = "unasked";

  /** Kind of what makes all that wait be rejected: the process ends soon. */
  public static final String KIND_REFUSED_WAITING = "refused_waiting";

  /** Kind of something that the core was told and that is not written down, once of each. */
  public static final String KIND_UNTOLD = "untold";

  /** Event of a request that came. */
  public static final String ARRIVED = "arrived";

  /** Event of a request that waits, and of which an external scheduler has another word. */
  public static final String ADVISED = "advised";

  /** Event of an endpoint that did not take the request. */
  public static final String ATTEMPT_FAILED = "attempt_failed";

  /** Event of an answer of another endpoint, to which a proxy has sent the request by itself. */
  public static final String ANSWERED_BY = "answered_by";

  /** Event of the first byte of the answer. */
  public static final String FIRST_BYTE = "first_byte";

  /** The same, as the first version calls it. */
  public static final String FIRST_TOKEN = "first_token";

  /** Event of an answer that the client gets from here on, of whatever it is. */
  public static final String ANSWERING = "answering";

  /** Event of more of the answer. */
  public static final String PROGRESS = "progress";

  /** Event of a client that takes no more of the answer for now. */
  public static final String HELD_UP = "held_up";

  /** Event of a client that takes more again. */
  public static final String GOES_ON = "goes_on";

  /** Event of a request of which nobody tells any more. */
  public static final String LEFT = "left";

  /** What the core took a request for that was left, in an event of its pool: it is over. */
  public static final String PRESUMED_OVER = "presumed_over";

  /** What the core did about the request in an event of its pool: its time was up. */
  public static final String DECIDED = "decided";

  /** Event of the end. */
  public static final String ENDED = "ended";

  /** Outcome of a request that was still under way when the capture ended. */
  public static final String OPEN = "open";

  /** Outcome of a request that was turned away. */
  public static final String REJECTED = "rejected";

  private CaptureFields() {}
}
