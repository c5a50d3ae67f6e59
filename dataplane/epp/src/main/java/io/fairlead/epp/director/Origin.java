package io.fairlead.epp.director;

/** By which frontend a request came. */
public enum Origin {
  /** A gateway shows it. */
  EXT_PROC,
  /** Its client sent it to the picker's own gateway. */
  GATEWAY
}
