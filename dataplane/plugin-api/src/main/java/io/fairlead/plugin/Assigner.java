package io.fairlead.plugin;

/**
 * Parts a pool's endpoints into up to 64 partitions by what they are, and says which of them a
 * request may go to before any profile runs. Filters and scorers then need not know of it.
 */
public non-sealed interface Assigner extends Plugin {

  /** Most partitions there can be. */
  int MAX_PARTITIONS = 64;

  /**
   * The partition of an endpoint, from 0 to 63. Asked when an endpoint comes, when its labels
   * change and when the config does, not for each request.
   */
  int partition(Endpoint endpoint);

  /**
   * The partitions whose endpoints a profile may choose among for this request.
   *
   * @param profile name of the profile
   * @param present partitions that have candidates, one bit each
   * @return one bit for each that is allowed; with none of {@code present} the profile fails
   */
  long allowed(InferenceRequest request, String profile, long present);
}
