package io.fairlead.epp.handover;

import io.fairlead.core.Follower;
import io.fairlead.core.HandOver;
import io.fairlead.core.TakeOver;
import io.fairlead.core.handover.Knowledge;
import io.fairlead.core.handover.News;
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

  /** What became of requests since the last time. */
  Future<News> news(Follower follower);

  /** It need not know any more. */
  void leave(Follower follower);

  /** Another picker tells what it sends, see {@link io.fairlead.core.PoolCore#tells}. */
  void tells(long picker);

  /** It has told this. */
  Future<?> heard(long picker, News news);

  /** It tells no more. */
  void silent(long picker);

  /** Takes some of what is told. */
  Future<Boolean> take(Piece piece);

  /** Some of what is told. */
  @FunctionalInterface
  interface Piece {

    /** Takes it; false when there is no more. */
    boolean take(TakeOver to, long now);
  }

  /** Tells this picker's process from those of all others. */
  long number();

  /** Hash of the config in force. */
  String configHash();

  /** How prompts are hashed: hashes of others are of use only if that is the same. */
  String hashing();
}
