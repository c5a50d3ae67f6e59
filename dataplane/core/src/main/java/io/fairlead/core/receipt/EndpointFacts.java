package io.fairlead.core.receipt;

import io.fairlead.core.HealthState;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What was known of an endpoint when it was decided on.
 *
 * @param inFlight requests that had not ended, sent by this picker or by others that had told
 * @param awaitingFirstToken those of them without a first token
 * @param inFlightTokens prompt tokens of those in flight
 * @param prefills prompts in line there, of all these
 * @param prefillTokens their tokens that were not believed to be cached
 * @param scrapedWaiting requests in the server's own queue at the last scrape; 0 when unknown
 * @param scrapedRunning requests that ran there then
 * @param saidToWait the same as {@code scrapedWaiting}, or the others' mean where it said nothing
 * @param waiting requests that wait to be taken into a step, see {@link
 *     io.fairlead.plugin.Endpoint#waiting()}
 * @param kvUsage share of its KV cache in use then; NaN when unknown
 * @param matchedBlocks leading blocks of the request's prompt that it was believed to hold
 * @param cachedTokens tokens of the prompt that it was believed to hold: those of the blocks, or
 *     what its engine had told
 * @param scrapedAt when that scrape was begun, by the pool's clock; {@link Long#MIN_VALUE} for none
 * @param health how it was used
 * @param healthSince since when, by the pool's clock; of meaning only where it was not in use
 * @param healthReason why it was not in use; else empty
 * @param failing how likely it was to fail the request, from 0 to 1
 * @param saturation how full it was, where 1 is full; NaN where nobody could say
 * @param adapters of LoRA; null where it has none
 * @param values numbers that the config has scraped, by its keys
 */
public record EndpointFacts(
    int inFlight,
    int awaitingFirstToken,
    long inFlightTokens,
    int prefills,
    long prefillTokens,
    int scrapedWaiting,
    int scrapedRunning,
    int saidToWait,
    int waiting,
    double kvUsage,
    int matchedBlocks,
    int cachedTokens,
    long scrapedAt,
    HealthState health,
    long healthSince,
    String healthReason,
    double failing,
    double saturation,
    @Nullable AdapterFacts adapters,
    Map<String, Double> values) {

  public EndpointFacts {
    values = Map.copyOf(values);
  }

  /**
   * LoRA adapters of an endpoint, as far as they concern the request's target model.
   *
   * @param slots adapters that can be active at once
   * @param loaded believed to be loaded
   * @param reported said to run or wait
   * @param needed whether the target is one
   * @param resident whether the target's was believed to be loaded
   * @param running whether it was said to run
   * @param waiting whether it was said to wait
   */
  public record AdapterFacts(
      int slots,
      int loaded,
      int reported,
      boolean needed,
      boolean resident,
      boolean running,
      boolean waiting) {}
}
