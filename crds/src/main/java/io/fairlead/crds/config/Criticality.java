package io.fairlead.crds.config;

/** How a model's requests fare when the pool is short of capacity, most important first. */
public enum Criticality {
  CRITICAL("Critical"),
  STANDARD("Standard"),
  SHEDDABLE("Sheddable");

  private final String wireName;

  Criticality(String wireName) {
    this.wireName = wireName;
  }

  /** The spelling used in resources, config documents and metrics. */
  public String wireName() {
    return wireName;
  }
}
