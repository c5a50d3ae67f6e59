package io.fairlead.epp.datalayer;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.plugin.Readings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What is known of one endpoint; what made no sense is unknown. Of several tellings the first. */
final class EndpointReadings implements Readings {

  private int waiting = -1;
  private int running = -1;
  private double kvUsage = Double.NaN;
  private int blockSize = -1;
  private int blocks = -1;
  private int maxAdapters = -1;
  private @Nullable String baseModel;
  private @Nullable String runningAdapters;
  private @Nullable String waitingAdapters;
  private Map<String, Double> values = Map.of();
  private double startedAt = Double.NaN;
  private double promptTokens = Double.NaN;
  private double outputTokens = Double.NaN;
  private double usedTokens = Double.NaN;

  @Override
  public void number(String key, double value) {
    switch (key) {
      case WAITING -> waiting = count(waiting, value);
      case RUNNING -> running = count(running, value);
      case KV_USAGE -> kvUsage = share(kvUsage, value);
      case BLOCK_SIZE -> blockSize = count(blockSize, value);
      case BLOCKS -> blocks = count(blocks, value);
      case MAX_ADAPTERS -> maxAdapters = count(maxAdapters, value);
      case STARTED_AT -> startedAt = positive(startedAt, value);
      case PROMPT_TOKENS -> promptTokens = positive(promptTokens, value);
      case OUTPUT_TOKENS -> outputTokens = positive(outputTokens, value);
      case USED_TOKENS -> usedTokens = positive(usedTokens, value);
      case BASE_MODEL, RUNNING_ADAPTERS, WAITING_ADAPTERS -> {}
      default -> custom(key, value);
    }
  }

  @Override
  public void text(String key, String value) {
    switch (key) {
      case BASE_MODEL -> baseModel = baseModel == null ? value : baseModel;
      case RUNNING_ADAPTERS -> runningAdapters = runningAdapters == null ? value : runningAdapters;
      case WAITING_ADAPTERS -> waitingAdapters = waitingAdapters == null ? value : waitingAdapters;
      default -> {}
    }
  }

  /** Adds what only the other knows. */
  void addAll(EndpointReadings other) {
    number(WAITING, other.waiting);
    number(RUNNING, other.running);
    number(KV_USAGE, other.kvUsage);
    number(BLOCK_SIZE, other.blockSize);
    number(BLOCKS, other.blocks);
    number(MAX_ADAPTERS, other.maxAdapters);
    number(STARTED_AT, other.startedAt);
    number(PROMPT_TOKENS, other.promptTokens);
    number(OUTPUT_TOKENS, other.outputTokens);
    number(USED_TOKENS, other.usedTokens);
    baseModel = baseModel == null ? other.baseModel : baseModel;
    runningAdapters = runningAdapters == null ? other.runningAdapters : runningAdapters;
    waitingAdapters = waitingAdapters == null ? other.waitingAdapters : waitingAdapters;
    other.values.forEach(this::custom);
  }

  EndpointMetrics metrics() {
    return new EndpointMetrics(
        waiting,
        running,
        kvUsage,
        blockSize,
        blocks,
        baseModel == null ? "" : baseModel,
        maxAdapters,
        names(runningAdapters),
        names(waitingAdapters),
        values,
        startedAt,
        progress(),
        usedTokens);
  }

  /** What is known of the two; a server that tells of one only does so at every scrape. */
  private double progress() {
    return Double.isNaN(promptTokens)
        ? outputTokens
        : Double.isNaN(outputTokens) ? promptTokens : promptTokens + outputTokens;
  }

  private void custom(String key, double value) {
    if (!Double.isNaN(value)) {
      if (values.isEmpty()) {
        values = new HashMap<>();
      }
      values.putIfAbsent(key, value);
    }
  }

  private static int count(int known, double value) {
    return known < 0 && value >= 0 && value <= Integer.MAX_VALUE ? (int) value : known;
  }

  private static double positive(double known, double value) {
    return Double.isNaN(known) && value >= 0 ? value : known;
  }

  private static double share(double known, double value) {
    // A full cache may come out a rounding error above 1; a percentage is no share.
    return Double.isNaN(known) && value >= 0 && value <= 1.01 ? Math.min(1, value) : known;
  }

  private static List<String> names(@Nullable String separated) {
    if (separated == null || separated.isEmpty()) {
      return List.of();
    }
    return List.of(separated.split(",", -1)).stream()
        .map(String::strip)
        .filter(name -> !name.isEmpty())
        .distinct()
        .toList();
  }
}
