package io.fairlead.epp;

import io.fairlead.core.Follower;
import io.fairlead.core.HandOver;
import io.fairlead.core.handover.Knowledge;
import io.fairlead.core.handover.News;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.handover.HandOverPool;
import java.util.concurrent.Future;
import java.util.function.Supplier;

/**
 * The pool as it hands over what it knows.
 *
 * @param number drawn at random
 */
record PoolHandOver(PoolLoop pool, Supplier<PickerReport> report, long number)
    implements HandOverPool {

  @Override
  public Future<HandOver> begin(long mostBytes, Knowledge to) {
    return pool.handOver(mostBytes, to);
  }

  @Override
  public Future<Boolean> next(HandOver telling) {
    return pool.handOver(telling);
  }

  @Override
  public void stop(HandOver telling) {
    pool.stop(telling);
  }

  @Override
  public Future<Follower> follow() {
    return pool.follow();
  }

  @Override
  public Future<News> news(Follower follower) {
    return pool.news(follower);
  }

  @Override
  public void tells(long picker) {
    pool.tells(picker);
  }

  @Override
  public Future<?> heard(long picker, News news) {
    return pool.heard(picker, news);
  }

  @Override
  public void silent(long picker) {
    pool.silent(picker);
  }

  @Override
  public void leave(Follower follower) {
    pool.leave(follower);
  }

  @Override
  public Future<Boolean> take(Piece piece) {
    return pool.takeOver(piece);
  }

  @Override
  public String configHash() {
    ConfigHash hash = report.get().configHash();
    return hash == null ? "" : hash.hex();
  }

  @Override
  public String hashing() {
    return pool.hashing();
  }
}
