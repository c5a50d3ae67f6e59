package io.fairlead.operator.observe;

/** Which pools are served without an EndpointPicker that claims them. */
public enum Adoption {
  /** Every pool whose Service nobody else provides. */
  ALL,
  /** Of these, the ones with the label {@link #LABEL}. */
  LABELLED,
  /** None. */
  NONE;

  /** Label of a pool, with the value {@code true}. */
  public static final String LABEL = "fairlead.io/adopt";
}
