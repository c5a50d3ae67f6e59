package io.fairlead.core;

/**
 * How far a request is. Which endpoint has it, and since when, says its {@link Attempt}; how it may
 * go on from here, {@link #mayBecome}.
 */
enum FlightState {
  /** Over, or never begun: the entry is free. */
  ENDED(false, false, false),
  /** Sent nowhere: it is being decided where it goes. */
  DECIDING(false, false, false),
  /** Sent nowhere: it waits for room. */
  WAITING(false, false, false),
  /** In line for its first token. */
  PREFILLING(true, false, false),
  /** Presumed to be past its first token: its answer comes in one piece. */
  DECODING(false, false, false),
  /** A byte of its answer has come and tells nothing of its prompt: it is still in line. */
  ANSWERED_PREFILLING(true, true, false),
  /** A byte of its answer has come, and it is past its first token. */
  ANSWERED(false, true, false),
  /** {@link #PREFILLING}, and its frontend has left it: nobody sees what becomes of it. */
  LEFT_PREFILLING(true, false, true),
  /** {@link #DECODING}, and left. */
  LEFT_DECODING(false, false, true),
  /** {@link #ANSWERED_PREFILLING}, and left. */
  LEFT_ANSWERED_PREFILLING(true, true, true),
  /** {@link #ANSWERED}, and left. */
  LEFT_ANSWERED(false, true, true);

  private final boolean prefilling;
  private final boolean answered;
  private final boolean left;

  FlightState(boolean prefilling, boolean answered, boolean left) {
    this.prefilling = prefilling;
    this.answered = answered;
    this.left = left;
  }

  /** Whether it is in line for its first token. */
  boolean isPrefilling() {
    return prefilling;
  }

  /** Whether a byte of the answer has come: from then on the client may have it. */
  boolean isAnswered() {
    return answered;
  }

  /** Whether nobody sees what becomes of it. */
  boolean isLeft() {
    return left;
  }

  /** The same past the first token. */
  FlightState prefilled() {
    return switch (this) {
      case PREFILLING -> DECODING;
      case ANSWERED_PREFILLING -> ANSWERED;
      case LEFT_PREFILLING -> LEFT_DECODING;
      case LEFT_ANSWERED_PREFILLING -> LEFT_ANSWERED;
      case ENDED, DECIDING, WAITING, DECODING, ANSWERED, LEFT_DECODING, LEFT_ANSWERED -> this;
    };
  }

  /** The same with a byte of the answer. */
  FlightState answered() {
    return switch (this) {
      case PREFILLING -> ANSWERED_PREFILLING;
      case DECODING -> ANSWERED;
      case LEFT_PREFILLING -> LEFT_ANSWERED_PREFILLING;
      case LEFT_DECODING -> LEFT_ANSWERED;
      case ENDED, DECIDING, WAITING -> this;
      case ANSWERED_PREFILLING, ANSWERED, LEFT_ANSWERED_PREFILLING, LEFT_ANSWERED -> this;
    };
  }

  /** The same with nobody who sees it. */
  FlightState left() {
    return switch (this) {
      case PREFILLING -> LEFT_PREFILLING;
      case DECODING -> LEFT_DECODING;
      case ANSWERED_PREFILLING -> LEFT_ANSWERED_PREFILLING;
      case ANSWERED -> LEFT_ANSWERED;
      case ENDED, DECIDING, WAITING -> this;
      case LEFT_PREFILLING, LEFT_DECODING, LEFT_ANSWERED_PREFILLING, LEFT_ANSWERED -> this;
    };
  }

  /**
   * Whether a request in this state may be in that one next. It is decided anew only while no byte
   * of its answer has come and somebody still sees it; it may end at any time.
   */
  boolean mayBecome(FlightState next) {
    if (next == ENDED) {
      return this != ENDED;
    }
    return switch (this) {
      case ENDED -> next == DECIDING;
      case DECIDING -> next == WAITING || next == PREFILLING;
      case WAITING -> next == PREFILLING;
      case PREFILLING ->
          next == DECIDING
              || next == DECODING
              || next == ANSWERED_PREFILLING
              || next == LEFT_PREFILLING;
      case DECODING -> next == DECIDING || next == ANSWERED || next == LEFT_DECODING;
      case ANSWERED_PREFILLING -> next == ANSWERED || next == LEFT_ANSWERED_PREFILLING;
      case ANSWERED -> next == LEFT_ANSWERED;
      case LEFT_PREFILLING -> next == LEFT_DECODING || next == LEFT_ANSWERED_PREFILLING;
      case LEFT_DECODING, LEFT_ANSWERED_PREFILLING -> next == LEFT_ANSWERED;
      case LEFT_ANSWERED -> false;
    };
  }
}
