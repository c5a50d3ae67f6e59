package io.fairlead.stub.engine;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;

/** What {@link BlockPool} does, in ordinary collections. */
final class PlainPool {

  private final int[] references;
  private final LinkedHashSet<Integer> free = new LinkedHashSet<>();
  private final Map<Long, Integer> known = new HashMap<>();
  private final Map<Integer, Long> identities = new HashMap<>();

  PlainPool(int size) {
    references = new int[size];
    for (int block = 0; block < size; block++) {
      free.add(block);
    }
  }

  boolean knows(long identity) {
    return known.containsKey(identity);
  }

  boolean isFree(long identity) {
    return free.contains(known.getOrDefault(identity, -1));
  }

  int share(long identity) {
    int block = known.getOrDefault(identity, -1);
    references[block]++;
    free.remove(block);
    return block;
  }

  int allocate() {
    int block = free.removeFirst();
    references[block] = 1;
    Long lost = identities.remove(block);
    if (lost != null) {
      known.remove(lost);
    }
    return block;
  }

  void release(int block) {
    if (--references[block] == 0) {
      free.add(block);
    }
  }

  void identify(int block, long identity) {
    if (!identities.containsKey(block) && !known.containsKey(identity)) {
      identities.put(block, identity);
      known.put(identity, block);
    }
  }

  void forget() {
    known.clear();
    identities.clear();
  }

  int free() {
    return free.size();
  }

  int held() {
    return references.length - free.size();
  }
}
