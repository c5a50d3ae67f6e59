package io.fairlead.epp.handover;

import io.fairlead.core.Follower;
import io.fairlead.core.HandOver;
import io.fairlead.core.TakeOver;
import io.fairlead.core.handover.Knowledge;
import io.fairlead.core.handover.SentPrompts;
import java.util.List;
import java.util.concurrent.Future;

/** The pool that tells or is told. Each call is a task of its loop's; any thread. */
public interface HandOverPool {

  /** Begins to tell. */
  Future<HandOver> begin(long mostBytes, Knowledge to);

  /** Tells the next piece; false when there is no more. */
  Future<Boolean> next(HandOver telling);

  /** Ends before all is told. */
  void stop(HandOver telling);

  /** Another picker is to know what this one sends. */
  Future<Follower> follow();

  /** What was sent since the last time. */
  Future<List<SentPrompts>> sent(Follower follower);

  /** It need not know any more. */
  void leave(Follower follower);

  /** Takes some of what is told. */
  Future<Boolean> take(Piece piece);

  /** Some of what is told. */
  @FunctionalInterface
  interface Piece {

    /** Takes it; false when there is no more. */
    boolean take(TakeOver to, long now);
  }

  /** Hash of the config in force. */
  String configHash();

  /** How prompts are hashed: hashes of others are of use only if that is the same. */
  String hashing();
}
