package io.fairlead.core.receipt;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.HealthState;
import io.fairlead.plugin.Adapters;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a decision is made in: asked when it has been made, before anything changes. */
public interface Surroundings {

  /** Place of a candidate among the pool's endpoints. */
  int place(int candidate);

  /** A bit for each place whose endpoint is a candidate; of no use where all are. */
  long[] candidates();

  /** Why the scheduler was not asked about the endpoint in this place. */
  Exclusion exclusion(int place);

  /**
   * A bit for each place, which those lack that the gateway's subset leaves out, where {@link
   * #exclusion} says so of all of them; else null.
   */
  long @Nullable [] allowed();

  /** What an endpoint that is full lacks, a constant for people; empty where nobody says. */
  String limit(int place);

  /** Saturation from which on an endpoint is full for the request; infinite for never. */
  double ceiling();

  /** Of all endpoints. */
  EndpointTable table();

  /** The endpoint in this place. */
  EndpointSpec spec(int place);

  /**
   * Fills in what each endpoint is believed to hold of the prompt, by place: the numbers that those
   * who decide are told.
   *
   * @param blocks leading blocks
   * @param tokens tokens, those of the blocks or what the endpoint's engine tells
   * @return false if nobody holds any: nothing is filled in then
   */
  boolean held(int[] blocks, int[] tokens);

  /** How much longer than the first guess prompts have proved to take in this pool. */
  double prefillPace();

  /** Whether all endpoints are well. */
  boolean whole();

  /** How the endpoint in this place is used. */
  HealthState health(int place);

  /** Since when. */
  long healthSince(int place);

  /** Why. */
  String healthReason(int place);

  /** How likely it is to fail a request. */
  double failing(int place);

  /** Its adapters. */
  Adapters adapters(int place);

  /** Its numbers that the config has scraped. */
  Map<String, Double> values(int place);

  /** Random bits of the request. */
  long seed();

  /** Blocks of its prompt that the index may know. */
  int blocks();

  /** Where config and endpoints are from. */
  Provenance origin();

  /** Pickers that share the pool. */
  int replicas();

  /** Model name that it goes with. */
  String target();

  /** Estimated. */
  int promptTokens();

  /** What plugins have read of it; null if nobody has noted that. */
  @Nullable HeaderReads headers();
}
