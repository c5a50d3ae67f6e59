package io.fairlead.core;

import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** What a server may say of itself, and what no sound server would. */
final class RandomScrapes {

  private RandomScrapes() {}

  static EndpointMetrics next(SplittableRandom random, Consumer<String> kinds) {
    return switch (random.nextInt(6)) {
      case 0 -> {
        kinds.accept("scrape without anything");
        yield EndpointMetrics.UNKNOWN;
      }
      case 1 -> {
        kinds.accept("scrape without KV cache");
        yield new EndpointMetrics(random.nextInt(8), 1, Double.NaN, -1, -1);
      }
      case 2 -> {
        kinds.accept("wrong scrape");
        yield wrong(random);
      }
      case 3 -> {
        kinds.accept("scrape with adapters");
        yield adapters(random);
      }
      default ->
          new EndpointMetrics(random.nextInt(3), 1, random.nextDouble(), 16, random.nextInt(500));
    };
  }

  private static EndpointMetrics wrong(SplittableRandom random) {
    List<Double> usages =
        List.of(-1.0, 17.0, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY, -0.0);
    return new EndpointMetrics(
        random.nextInt(),
        random.nextInt(),
        usages.get(random.nextInt(usages.size())),
        random.nextInt(),
        random.nextInt());
  }

  private static EndpointMetrics adapters(SplittableRandom random) {
    return new EndpointMetrics(
        random.nextInt(3),
        random.nextInt(3),
        random.nextDouble(),
        16,
        100 + random.nextInt(400),
        random.nextBoolean() ? "base" : "",
        random.nextInt(4) - 1,
        Account.targets(t -> !t.isEmpty() && random.nextInt(3) == 0),
        Account.targets(t -> !t.isEmpty() && random.nextInt(3) == 0),
        Map.of("custom", (double) random.nextInt(100)));
  }
}
