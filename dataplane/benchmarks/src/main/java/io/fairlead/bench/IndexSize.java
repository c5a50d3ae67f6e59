package io.fairlead.bench;

import io.fairlead.core.prefix.PrefixIndex;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * What a full index takes for each block of each of 64 endpoints: all of the heap that it has
 * taken, with its room to grow.
 */
final class IndexSize {

  private static final int ENDPOINTS = 64;
  private static final int CAPACITY = 8_192;
  private static final int BLOCKS = 512;
  private static final long SALT = PrefixIndex.salt("model");

  private final List<Row> rows = new ArrayList<>();

  /**
   * One way to fill it.
   *
   * @param prompts which prompts
   * @param held blocks of all endpoints
   * @param bytes per block of an endpoint
   */
  private record Row(String prompts, long held, double bytes) {}

  static IndexSize measure() {
    IndexSize size = new IndexSize();
    size.fill("holders=1", BLOCKS, 1);
    size.fill("holders=1,shared=256", BLOCKS / 2, 1);
    size.fill("holders=64", BLOCKS, ENDPOINTS);
    return size;
  }

  /** Prompts of 512 blocks, of which the last {@code own} are each prompt's own. */
  private void fill(String name, int own, int holders) {
    SplittableRandom random = new SplittableRandom(1);
    PrefixIndex index = new PrefixIndex(CAPACITY, Long.MAX_VALUE);
    for (int e = 0; e < ENDPOINTS; e++) {
      index.forget(e);
    }
    long[] prompt = random.longs(BLOCKS).toArray();
    int prompts = 2 * ENDPOINTS * CAPACITY / own / holders;
    for (int p = 0; p < prompts; p++) {
      for (int i = BLOCKS - own; i < BLOCKS; i++) {
        prompt[i] = random.nextLong();
      }
      for (int h = 0; h < holders; h++) {
        index.learn((p + h) % ENDPOINTS, SALT, prompt, BLOCKS);
      }
    }
    long held = 0;
    for (int e = 0; e < ENDPOINTS; e++) {
      held += index.size(e);
    }
    rows.add(new Row(name, held, (double) index.allocatedBytes() / held));
  }

  List<String> lines() {
    return rows.stream()
        .map(
            row ->
                String.format(
                    Locale.ROOT,
                    "bench index/size,endpoints=%d,%s blocks=%d bytes_per_endpoint_block=%.1f",
                    ENDPOINTS,
                    row.prompts(),
                    row.held(),
                    row.bytes()))
        .toList();
  }

  String markdown() {
    StringBuilder table = new StringBuilder();
    table.append("| case | blocks held | bytes per endpoint and block |\n|---|---|---|\n");
    for (Row row : rows) {
      table.append(
          String.format(
              Locale.ROOT,
              "| index/size,endpoints=%d,%s | %,d | %.1f |%n",
              ENDPOINTS,
              row.prompts(),
              row.held(),
              row.bytes()));
    }
    return table.toString();
  }
}
