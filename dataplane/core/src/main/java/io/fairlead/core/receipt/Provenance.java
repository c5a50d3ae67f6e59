package io.fairlead.core.receipt;

/**
 * Where config and endpoints are from: their sources, or what a picker kept of them, which stands
 * in while these are silent and may be old.
 *
 * @param keptConfig whether the config is one that was kept
 * @param keptEndpoints whether the endpoints are
 */
public record Provenance(boolean keptConfig, boolean keptEndpoints) {

  /** What the sources say now. */
  public static final Provenance SOURCES = new Provenance(false, false);
}
