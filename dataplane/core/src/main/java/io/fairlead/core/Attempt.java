package io.fairlead.core;

import io.fairlead.core.account.SharedBlocks;
import io.fairlead.core.health.EndpointHealth;
import org.jspecify.annotations.Nullable;

/**
 * Where a request was sent, what is booked on it there, and until when it may take. One object for
 * each entry of the {@link RequestTable}: of the current attempt of the request that has it now,
 * and of no meaning between attempts.
 */
final class Attempt {

  /** Answer tokens of one that has left nothing in its endpoint's cache. */
  static final int NO_CONTEXT = -1;

  private static final long NOT_BEGUN = Long.MIN_VALUE;

  /** Where it was sent; null when it is not sent anywhere right now. */
  @Nullable EndpointState at;

  /**
   * Who computes its prompt for {@link #at}, until the first token; null when that does it itself.
   */
  @Nullable EndpointState prefillAt;

  /** Who computed its prompt or was to, if that is another endpoint than {@link #at}. */
  @Nullable EndpointState prefilledBy;

  /** What it is told to other pickers by, and what its prompt at {@link #prefillAt} is. */
  long number;

  long prefillNumber;

  /** Tokens of its answers that rest with its prompt where it was, or {@link #NO_CONTEXT}. */
  int answerTokens;

  String target = "";

  long salt;
  boolean critical;
  boolean sheddable;

  /**
   * Whether it is counted as one of its adapter's where it was sent, and its prompt where that is.
   */
  boolean usesSlot;

  boolean usesSlotAtPrefill;

  /** Whether its adapter has to be loaded first: that holds up nobody else. */
  boolean loadsAdapter;

  /** Whether it found nobody in line who had no first token yet. */
  boolean first;

  /** Whether some were before it in line of which nothing tells when their prompts are computed. */
  boolean behindUnseen;

  /**
   * Whether it is not known since when its server has it, as a proxy took it there: how long it
   * took from {@link #sentAt} says nothing of that server then.
   */
  boolean sinceUnknown;

  /** Whether what came of the attempt has been told to the endpoint's health. */
  boolean judged;

  /** On which trial of its endpoint it goes there, see {@link EndpointHealth#sent}; 0 for none. */
  int trial;

  /** The same of its prompt. */
  int prefillTrial;

  long sentAt;

  /** Since when its server has it: the same, or when another had computed its prompt. */
  long thereSince;

  /** When its answer began, with a head or with a first byte; before that {@link #NOT_BEGUN}. */
  long begunAt = NOT_BEGUN;

  long firstTokenAt;

  /** When the last byte of the answer came, as far as was told, or could come again. */
  long lastByteAt;

  /**
   * Whether the client has some of the answer, or gets it from here on, with a token or without.
   */
  boolean passing;

  /** Whether more came of that since, and no token: it tells the client to wait. */
  boolean askedToWait;

  /** Whether the client takes no more of the answer now: then no more can come; and since when. */
  boolean heldUp;

  long heldUpSince;

  /** Whether that was ever so: how long the answer took says nothing of its server then. */
  boolean wasHeldUp;

  /** Whether its server is through with it, as its page shows: it counts there no more. */
  boolean unread;

  /** Until when its prompt may be computed at the latest, if it is presumed that it was. */
  long mayComputeUntil;

  /** Since when its prefill was the endpoint's next. */
  long prefillSince;

  /** When the first byte is late. */
  long firstByteBy;

  /** Whether that was asked for. */
  boolean firstByteSet;

  /**
   * When the first byte is late whatever anybody asks for: from then on its endpoint is to blame.
   */
  long firstByteOverdue;

  /** When all of it is late. */
  long over;

  /** Longest time between two bytes. */
  long mostSilence;

  /** Prompt tokens, and those believed to be cached by whoever computes the prompt. */
  int tokens;

  int cached;

  /** Sequences that {@link #at} runs for it. */
  int answers = 1;

  /** Prompt tokens that {@link #prefilledBy} is to send to {@link #at}. */
  int transferred;

  /** Leading blocks of the prompt that the index was told of. */
  int blocks;

  /** Hash of the last of these. */
  long lastBlock;

  /** What {@link SharedBlocks} needs of a prompt that was left. */
  long[] sampledBlocks = {};

  /** Leading blocks that {@link #at} was believed to hold before this request was sent there. */
  int matched;

  /** The same of whoever computes the prompt. */
  int matchedAtPrefill;

  /** Blocks of the prompt that {@link #at} was not believed to hold, until it is computed. */
  int newBlocks;

  /** The same of whoever computes the prompt. */
  int newBlocksAtPrefill;

  /** Keys of the prompt that the engine at {@link #at} held, as it said, before the rest came. */
  int expectedFrom;

  /** The same of whoever computes the prompt for it. */
  int expectedFromAtPrefill;

  /** What an adapter's blocks are told from those of its base by. */
  long adapterSalt;

  /**
   * The endpoint's running sums when it was sent, and at the first token where that is seen: what
   * they grow by until the end is the mean.
   */
  long decodingArea;

  long tokensArea;

  /** Tokens, or events, of one of its answers, if all of them have so many. */
  int ofEach(int all) {
    return all <= 0 ? all : (int) Math.max(1, Math.round((double) all / answers));
  }

  int uncached() {
    return tokens - cached;
  }

  /** What attention costs in a prefill: each new token looks at all before it. */
  double attention() {
    double uncached = uncached();
    return uncached * (cached + uncached / 2);
  }

  /** Something of its answer came: a head or a byte. */
  void answers(long now) {
    lastByteAt = now;
    if (begunAt == NOT_BEGUN) {
      begunAt = now;
    }
  }

  /** Nothing of its answer has come yet. */
  void beginsAnew() {
    begunAt = NOT_BEGUN;
    passing = false;
    askedToWait = false;
    heldUp = false;
    wasHeldUp = false;
    sinceUnknown = false;
  }

  /** Whether how long it took from {@link #sentAt} to its end says nothing of its server. */
  boolean tellsNoTime() {
    return wasHeldUp || sinceUnknown;
  }

  /** Nanoseconds since its answer began; negative where it has not. */
  long answersFor(long now) {
    return begunAt == NOT_BEGUN ? -1 : now - begunAt;
  }

  /** Lets go of all that the attempt referred to. */
  void clear() {
    at = null;
    prefillAt = null;
    prefilledBy = null;
    target = "";
  }
}
