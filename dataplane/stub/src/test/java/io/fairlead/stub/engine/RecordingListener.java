package io.fairlead.stub.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Keeps every effect, and holds each request to its order: first token, further tokens one by one,
 * end.
 */
final class RecordingListener implements EngineListener {

  final List<String> log = new ArrayList<>();
  final Map<Long, Integer> tokens = new HashMap<>();
  final Map<Long, Integer> cached = new HashMap<>();
  final Map<Long, Long> firstAt = new HashMap<>();
  final Map<Long, Long> finishedAt = new HashMap<>();
  private final boolean everyToken;
  private long last;

  RecordingListener() {
    this(true);
  }

  RecordingListener(boolean everyToken) {
    this.everyToken = everyToken;
  }

  @Override
  public void firstToken(long id, int cachedTokens, long time) {
    note("first " + id + " cached " + cachedTokens, time);
    if (tokens.putIfAbsent(id, 1) != null) {
      throw new AssertionError("second first token of " + id);
    }
    cached.put(id, cachedTokens);
    firstAt.put(id, time);
  }

  @Override
  public boolean everyToken() {
    return everyToken;
  }

  @Override
  public void token(long id, int n, long time) {
    note("token " + id + " " + n, time);
    if (!Integer.valueOf(n - 1).equals(tokens.put(id, n))) {
      throw new AssertionError("token " + n + " of " + id + " out of order");
    }
  }

  @Override
  public void finished(long id, long time) {
    note("finished " + id, time);
    if (finishedAt.put(id, time) != null) {
      throw new AssertionError("second end of " + id);
    }
  }

  /** When the first token of a request came. */
  long firstAt(long id) {
    return known(firstAt, id);
  }

  /** When a request ended. */
  long finishedAt(long id) {
    return known(finishedAt, id);
  }

  private static long known(Map<Long, Long> times, long id) {
    Long time = times.get(id);
    if (time == null) {
      throw new AssertionError("nothing told about " + id);
    }
    return time;
  }

  private void note(String event, long time) {
    if (time < last) {
      throw new AssertionError(event + " at " + time + ", after something at " + last);
    }
    last = time;
    log.add(time + " " + event);
  }
}
