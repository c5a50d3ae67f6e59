package io.fairlead.core;

/** How an endpoint is used, by what it has shown. */
public enum HealthState {
  /** It gets requests; fewer, the more of them it fails. */
  IN_USE("in use"),
  /** It gets no requests, and is probed until it answers. */
  OUT("out"),
  /** A probe was answered: it gets one request at a time until one succeeds. */
  ON_TRIAL("on trial");

  private final String words;

  HealthState(String words) {
    this.words = words;
  }

  /** As status pages and messages say it. */
  public String words() {
    return words;
  }
}
