package io.fairlead.epp.handover;

/**
 * What came of asking others at the start.
 *
 * @param state in a word
 * @param from who has told; empty if nobody has
 * @param millis that it took
 * @param endpoints of which something was taken
 * @param prompts that they hold
 * @param why nothing was taken, or not all that was told; else empty
 */
public record HandOverResult(
    State state, String from, long millis, int endpoints, long prompts, String why) {

  /** Not asked yet. */
  public static final HandOverResult ASKING = new HandOverResult(State.ASKING, "", 0, 0, 0, "");

  /** In a word. */
  public enum State {
    /** Not over. */
    ASKING("asking"),
    /** Something was taken. */
    TAKEN("taken"),
    /** There is nobody to ask. */
    ALONE("alone"),
    /** It starts cold. */
    FAILED("failed");

    private final String word;

    State(String word) {
      this.word = word;
    }

    /** As metrics and pages have it. */
    public String word() {
      return word;
    }
  }
}
