package io.fairlead.lab.workload;

import io.fairlead.crds.config.Criticality;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Who asks, by chance, and the models that they ask for.
 *
 * @param models all that may be asked for
 * @param draw one who asks
 */
record Callers(List<ServedModel> models, Function<SplittableRandom, Caller> draw) {

  private static final double[] TENANT_SHARES = {0.4, 0.3, 0.2, 0.1};

  /** The base model, for nobody's in particular. */
  static Callers anybody() {
    return new Callers(
        List.of(new ServedModel(Caller.ANYBODY.model(), Criticality.STANDARD, false)),
        random -> Caller.ANYBODY);
  }

  /** Adapters {@code adapter-0} and so on, by Zipf's law. */
  static Callers ofAdapters(int count) {
    List<ServedModel> models =
        IntStream.range(0, count)
            .mapToObj(k -> new ServedModel("adapter-" + k, Criticality.STANDARD, true))
            .toList();
    List<Caller> callers = models.stream().map(model -> new Caller(model.name(), "")).toList();
    var ranks = new Zipf(count);
    return new Callers(models, random -> callers.get(ranks.draw(random)));
  }

  /** A model per criticality, each with four tenants who ask for unequal amounts. */
  static Callers ofBands(double critical, double standard) {
    List<ServedModel> models =
        Stream.of(Criticality.values())
            .map(band -> new ServedModel(band.name().toLowerCase(Locale.ROOT), band, false))
            .toList();
    return new Callers(
        models,
        random -> {
          double at = random.nextDouble();
          int band = at < critical ? 0 : at < critical + standard ? 1 : 2;
          String model = models.get(band).name();
          return new Caller(model, model + "-" + tenant(random));
        });
  }

  private static int tenant(SplittableRandom random) {
    double left = random.nextDouble();
    int tenant = 0;
    while (tenant < TENANT_SHARES.length - 1 && left >= TENANT_SHARES[tenant]) {
      left -= TENANT_SHARES[tenant++];
    }
    return tenant + 1;
  }
}
