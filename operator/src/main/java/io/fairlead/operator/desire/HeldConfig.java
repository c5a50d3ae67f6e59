package io.fairlead.operator.desire;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.document.ConfigMapTexts;
import io.fairlead.crds.document.DocumentException;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.children.Children;
import io.fairlead.operator.children.Names;
import io.fairlead.operator.observe.Observation;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the pool's ConfigMap holds now: the config to go on with when no better one can be made. A
 * last good one that it missed, since edits came faster than reports, counts in its place.
 */
public final class HeldConfig {
  private final Observation seen;
  private final Map<String, String> texts;
  private final @Nullable ConfigHash hash;
  private final List<PoolConfig> given;

  /** Reading a large one takes time, and it is asked for again and again. */
  private final Map<String, Optional<PoolConfig>> read = new HashMap<>();

  /** Worked out at most once, too: a refused config is compared with all that were given. */
  private @Nullable PoolConfig missedGood;

  private boolean isMissedGoodKnown;

  private HeldConfig(
      Observation seen,
      Map<String, String> texts,
      @Nullable ConfigHash hash,
      List<PoolConfig> given) {
    this.seen = seen;
    this.texts = texts;
    this.hash = hash;
    this.given = given;
  }

  /** As observed; holds nothing when there is no ConfigMap yet. */
  public static HeldConfig of(Observation seen) {
    return of(seen, List.of());
  }

  /**
   * The same, beside what pickers may run.
   *
   * @param given to pickers lately, the one given last first
   */
  static HeldConfig of(Observation seen, List<PoolConfig> given) {
    return seen.child(ConfigMap.class, Names.child(seen.pool().getMetadata().getName()))
        .map(map -> of(seen, map, given))
        .orElseGet(() -> new HeldConfig(seen, Map.of(), null, given));
  }

  private static HeldConfig of(Observation seen, ConfigMap map, List<PoolConfig> given) {
    Map<String, String> texts = new HashMap<>();
    for (String key : List.of(Children.CONFIG_KEY, Children.LAST_GOOD_KEY)) {
      try {
        String text = ConfigMapTexts.read(map, key);
        if (text != null) {
          texts.put(key, text);
        }
      } catch (IOException e) {
        // Edited by hand: it is about to be written anew.
      }
    }
    Map<String, String> annotations = map.getMetadata().getAnnotations();
    return new HeldConfig(
        seen,
        texts,
        annotations == null
            ? null
            : ConfigHash.parse(annotations.get(ConfigHash.ANNOTATION)).orElse(null),
        given);
  }

  /** The config that was written last; empty when there is none that can be read. */
  public Optional<PoolConfig> newest() {
    return config(Children.CONFIG_KEY);
  }

  /** The config with this hash, if it is one of those that pickers may run of what is held. */
  Optional<PoolConfig> document(ConfigHash wanted) {
    return Stream.<Supplier<Optional<PoolConfig>>>of(
            this::newest, this::lastGood, () -> newest().flatMap(this::underGoodScheduling))
        .map(Supplier::get)
        .flatMap(Optional::stream)
        .filter(config -> ConfigDocument.hash(config).equals(wanted))
        .findFirst();
  }

  /**
   * What ran before: the newest config, unless that one can't be read, or a picker refuses it, and
   * another ran before it.
   */
  public @Nullable PoolConfig good() {
    Optional<PoolConfig> newest = refused() ? Optional.empty() : newest();
    return newest.or(this::lastGood).or(this::newest).orElse(null);
  }

  /**
   * What pickers run that refuse the scheduling of the config: the rest of it under the last good
   * one. Empty while none refuses what it was given, or nothing else ran before.
   */
  Optional<PoolConfig> underGoodScheduling(PoolConfig config) {
    return refused() ? lastGood().map(config::scheduledAs) : Optional.empty();
  }

  /** Hashes of the configs that pickers say they run. */
  Set<ConfigHash> reported() {
    return reports()
        .map(PickerReport::configHash)
        .flatMap(Stream::ofNullable)
        .collect(Collectors.toUnmodifiableSet());
  }

  /**
   * The config with what the one that was written last has of kinds that can't be read now: an
   * object that is not seen is not gone. An InferenceModel that was deleted and says no more than a
   * rewrite can looks like one that is not seen, and stays until those are.
   *
   * @return null when that one is not there to be read, and a picker runs some
   */
  @Nullable PoolConfig completed(PoolConfig config) {
    Set<String> unread = seen.unread().kinds();
    if (unread.isEmpty()) {
      return config;
    }
    PoolConfig before = newest().orElse(null);
    if (before == null) {
      return reports().anyMatch(report -> report.configHash() != null) ? null : config;
    }
    Map<String, ModelConfig> models = new TreeMap<>();
    if (unread.contains(HasMetadata.getKind(InferenceModel.class))) {
      before.models().forEach(model -> models.put(model.name(), model));
    } else if (unread.contains("InferenceModelRewrite")) {
      before.models().stream()
          .filter(HeldConfig::mayBeRewrite)
          .forEach(model -> models.put(model.name(), model));
    }
    config.models().forEach(model -> models.put(model.name(), model));
    return config.withMembers(
        List.copyOf(models.values()),
        unread.contains("InferenceObjective") ? before.objectives() : config.objectives());
  }

  private static boolean mayBeRewrite(ModelConfig model) {
    return model.equals(new ModelConfig(model.name(), Criticality.STANDARD, model.targets()));
  }

  /**
   * The document for pickers that cannot run {@code next}: what they ran when it was written.
   *
   * @return null when nothing is known to have run
   */
  public @Nullable String lastGood(ConfigHash next) {
    boolean outrun = hash != null && !next.equals(hash) && runs(hash);
    // One that was spoiled by hand would take the place of the only one that can be run.
    boolean readable = outrun && newest().isPresent();
    return readable
        ? texts.get(Children.CONFIG_KEY)
        : missedGood().map(ConfigDocument::write).orElse(texts.get(Children.LAST_GOOD_KEY));
  }

  private Optional<PoolConfig> lastGood() {
    return missedGood().or(() -> config(Children.LAST_GOOD_KEY));
  }

  /**
   * The newest config under the given scheduling that a picker runs who refuses its own. Empty
   * where that is of the held last good one, or nobody knows.
   */
  private Optional<PoolConfig> missedGood() {
    if (!isMissedGoodKnown) {
      Optional<PoolConfig> newest = refused() ? newest() : Optional.empty();
      Optional<PoolConfig> held = config(Children.LAST_GOOD_KEY);
      missedGood = newest.flatMap(refused -> missedGood(refused, held)).orElse(null);
      isMissedGoodKnown = true;
    }
    return Optional.ofNullable(missedGood);
  }

  private Optional<PoolConfig> missedGood(PoolConfig refused, Optional<PoolConfig> held) {
    Set<ConfigHash> reported = reported();
    Predicate<PoolConfig> runs =
        config ->
            Stream.of(config, refused.scheduledAs(config))
                .map(ConfigDocument::hash)
                .anyMatch(reported::contains);
    return held.filter(runs).isPresent()
        ? Optional.empty()
        : given.stream()
            .filter(config -> !refused.scheduledAs(config).equals(refused))
            .filter(runs)
            .findFirst()
            .map(refused::scheduledAs);
  }

  private boolean runs(ConfigHash config) {
    return reports().anyMatch(report -> config.equals(report.configHash()));
  }

  /** A pod that is on its way out may be of an image that knows less than the others. */
  private boolean refused() {
    return hash != null
        && reports(seen.pods().stream().filter(pod -> !pod.isMarkedForDeletion()))
            .map(PickerReport::refused)
            .flatMap(Stream::ofNullable)
            .anyMatch(refused -> hash.equals(refused.hash()));
  }

  private Stream<PickerReport> reports() {
    return reports(seen.pods().stream());
  }

  private Stream<PickerReport> reports(Stream<Pod> pods) {
    return pods.map(seen::report)
        .filter(Objects::nonNull)
        .map(PickerReport.Reading::report)
        .flatMap(Stream::ofNullable);
  }

  private Optional<PoolConfig> config(String key) {
    return read.computeIfAbsent(key, which -> read(texts.get(which)));
  }

  private static Optional<PoolConfig> read(@Nullable String document) {
    if (document == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(ConfigDocument.read("ConfigMap", document).value());
    } catch (DocumentException e) {
      // Edited by hand, or by another release: it is about to be written anew.
      return Optional.empty();
    }
  }
}
