package io.fairlead.core;

import java.util.List;
import java.util.Map;

/**
 * One scrape of a model server. Unknown stays unknown: -1, NaN where noted, empty for the rest.
 *
 * @param waiting requests in the server's queue
 * @param running requests in its batch
 * @param kvUsage share of the KV cache in use, 0 to 1; NaN when unknown
 * @param blockSize tokens per KV block
 * @param blocks KV blocks in all
 * @param baseModel what the server calls the model that adapters are added to
 * @param maxAdapters LoRA adapters that can be active at once; -1 when LoRA is off
 * @param runningAdapters adapters with requests in the batch
 * @param waitingAdapters adapters with requests in the queue
 * @param values what else was wanted, by the key that the config gives it
 * @param startedAt when the server's process started, in seconds of Unix time; NaN when unknown. It
 *     differs between two scrapes if the process is another one
 * @param progress tokens of prompts and answers that the process has computed since it started; NaN
 *     when unknown. It stands still while the engine does, and falls only when it starts anew
 * @param usedTokens tokens of requests in the KV cache, to the last one; NaN when unknown. They
 *     show that an engine works that tells of progress only when a request ends
 */
public record EndpointMetrics(
    int waiting,
    int running,
    double kvUsage,
    int blockSize,
    int blocks,
    String baseModel,
    int maxAdapters,
    List<String> runningAdapters,
    List<String> waitingAdapters,
    Map<String, Double> values,
    double startedAt,
    double progress,
    double usedTokens) {

  /** Nothing could be read. */
  public static final EndpointMetrics UNKNOWN = new EndpointMetrics(-1, -1, Double.NaN, -1, -1);

  /** More are no count of requests: what adds them up must not overflow. */
  private static final int MOST_REQUESTS = 1 << 24;

  public EndpointMetrics {
    waiting = Math.min(waiting, MOST_REQUESTS);
    running = Math.min(running, MOST_REQUESTS);
    runningAdapters = List.copyOf(runningAdapters);
    waitingAdapters = List.copyOf(waitingAdapters);
    values = Map.copyOf(values);
  }

  /** A scrape of a server whose progress tells that it works. */
  public EndpointMetrics(
      int waiting,
      int running,
      double kvUsage,
      int blockSize,
      int blocks,
      String baseModel,
      int maxAdapters,
      List<String> runningAdapters,
      List<String> waitingAdapters,
      Map<String, Double> values,
      double startedAt,
      double progress) {
    this(
        waiting,
        running,
        kvUsage,
        blockSize,
        blocks,
        baseModel,
        maxAdapters,
        runningAdapters,
        waitingAdapters,
        values,
        startedAt,
        progress,
        Double.NaN);
  }

  /** A scrape of a server that doesn't tell when it started, and what it has done since. */
  public EndpointMetrics(
      int waiting,
      int running,
      double kvUsage,
      int blockSize,
      int blocks,
      String baseModel,
      int maxAdapters,
      List<String> runningAdapters,
      List<String> waitingAdapters,
      Map<String, Double> values) {
    this(
        waiting,
        running,
        kvUsage,
        blockSize,
        blocks,
        baseModel,
        maxAdapters,
        runningAdapters,
        waitingAdapters,
        values,
        Double.NaN,
        Double.NaN);
  }

  /** A scrape of a server without adapters. */
  public EndpointMetrics(int waiting, int running, double kvUsage, int blockSize, int blocks) {
    this(waiting, running, kvUsage, blockSize, blocks, "", -1, List.of(), List.of(), Map.of());
  }

  /** The same, but its queue, its batch, who is in them and the use of its KV cache are unknown. */
  EndpointMetrics withoutLoad() {
    return new EndpointMetrics(
        -1,
        -1,
        Double.NaN,
        blockSize,
        blocks,
        baseModel,
        maxAdapters,
        List.of(),
        List.of(),
        values,
        startedAt,
        progress,
        Double.NaN);
  }
}
