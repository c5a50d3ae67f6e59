package io.fairlead.lab.load;

import java.util.Map;

/**
 * What a load run came to. Times are milliseconds as seen by the client, counted from when a
 * request was due.
 *
 * @param sent requests sent
 * @param succeeded answered 200 and complete: a stream that ends without its last event is a
 *     failure, and so is an answer with an error in it
 * @param rejected turned away with 429
 * @param failed all others
 * @param failures how often by kind, e.g. {@code 503} or an exception's name
 * @param endpoints answers per endpoint, as the endpoint names itself in a header; empty when it
 *     doesn't
 * @param models answers per model named in the answer
 * @param ttft time to the first body byte of the successful
 * @param tpot time per output token after the first, of streamed answers of two tokens or more
 * @param endToEnd time to the last byte of the successful
 * @param tokens of the successful, as the server counted them
 */
public record LoadReport(
    long sent,
    long succeeded,
    long rejected,
    long failed,
    Map<String, Long> failures,
    Map<String, Long> endpoints,
    Map<String, Long> models,
    Quantiles ttft,
    Quantiles tpot,
    Quantiles endToEnd,
    Tokens tokens) {

  /** Whether every request was answered in full. */
  public boolean flawless() {
    return sent > 0 && succeeded == sent;
  }

  /** Requests that are over. */
  public long over() {
    return succeeded + rejected + failed;
  }

  /** Median, tail and mean of one distribution in milliseconds; all 0 when it is empty. */
  public record Quantiles(double p50, double p90, double p99, double mean) {}

  /**
   * Sums of tokens; 0 of what the server did not count.
   *
   * @param prompt of all prompts
   * @param cached those of {@code prompt} that its cache held
   * @param output of all answers
   */
  public record Tokens(long prompt, long cached, long output) {

    /** None. */
    public static final Tokens NONE = new Tokens(0, 0, 0);
  }
}
