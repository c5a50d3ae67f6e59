package io.fairlead.operator.desire;

import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.compile.Compilation;
import io.fairlead.crds.compile.Compilation.AcceptedModel;
import io.fairlead.crds.compile.Finding;
import io.fairlead.crds.compile.Finding.Severity;
import io.fairlead.crds.compile.ObjectRef;
import io.fairlead.crds.compile.PoolCompiler;
import io.fairlead.crds.compile.SchedulingText;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.document.ConfigDocument.Written;
import io.fairlead.crds.document.ConfigMapTexts;
import io.fairlead.crds.document.PluginTypes;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPickerSpec;
import io.fairlead.crds.fairlead.v1alpha1.ExternalPlace;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.children.Children;
import io.fairlead.operator.children.Names;
import io.fairlead.operator.desire.CompiledPool.JudgedModel;
import io.fairlead.operator.desire.SelectedPickers.Selected;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Replica;
import io.fairlead.operator.status.Verdict;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Puts what the compiler finds into the words of conditions. */
public final class PoolDesire {
  /** Kinds without which a pool has no config; of all others an object is left out. */
  private static final Set<String> OF_THE_POOL = Set.of("InferencePool", "EndpointPicker");

  private PoolDesire() {}

  /**
   * Compiles what was observed, of a pool whose pickers nobody has looked at.
   *
   * @param picker carries the settings; null for defaults
   * @param scheduling what its {@code spec.schedulingFrom} leads to, if it has one
   */
  public static CompiledPool compile(
      Observation seen, @Nullable EndpointPicker picker, SchedulingText scheduling) {
    return compile(seen, picker, scheduling, List.of(), new GivenConfigs());
  }

  /**
   * Compiles what was observed.
   *
   * @param picker carries the settings; null for defaults
   * @param scheduling what its {@code spec.schedulingFrom} leads to, if it has one
   * @param replicas of the picker, with what each says of itself, as far as that counts still
   * @param given what pickers were given; gets what they are to be given now
   */
  public static CompiledPool compile(
      Observation seen,
      @Nullable EndpointPicker picker,
      SchedulingText scheduling,
      List<Replica> replicas,
      GivenConfigs given) {
    HeldConfig held = HeldConfig.of(seen, given.latestFirst(seen.pool().getMetadata().getUid()));
    Compilation compilation =
        PoolCompiler.compile(
            seen.pool(),
            seen.models(),
            picker,
            seen.upstream(),
            PluginTypes.shipped(),
            held::good,
            scheduling);
    Optional<Selected> selected = SelectedPickers.of(seen, picker);
    boolean refused = compilation.config() == null || selected.filter(Selected::now).isPresent();
    PoolConfig visible = refused ? null : compilation.config();
    PoolConfig compiled = visible == null ? null : held.completed(visible);
    Verdict unknown = visible != null && compiled == null ? unknown(seen) : null;
    Written wanted = compiled == null ? null : ConfigDocument.written(compiled);
    boolean fits = wanted == null || ConfigMapTexts.fits(wanted.text());
    boolean newest = wanted != null && fits;
    PoolConfig config = newest ? compiled : held.newest().orElse(null);
    Written document = newest ? wanted : config == null ? null : ConfigDocument.written(config);
    Set<ModelConfig> running =
        config == null || document == null
            ? Set.of()
            : running(seen, replicas, config, document.hash(), held, given);
    Verdict noConfig =
        unknown != null
            ? Verdict.pending(unknown.message())
            : refused ? noConfig(seen.pool(), config) : null;
    Set<ModelConfig> kept = config == null ? Set.of() : new HashSet<>(config.models());
    List<JudgedModel> models = judged(seen.models(), compilation, noConfig, kept, running);
    return new CompiledPool(
        accepted(compilation, selected, picker, config),
        config,
        document,
        fits ? null : tooLarge(seen.pool(), config),
        unknown,
        document == null ? null : held.lastGood(document.hash()),
        schedulers(seen, picker, compilation, newest),
        unseen(visible, compiled),
        models,
        UpstreamJudge.judge(seen, compilation, noConfig));
  }

  /** The models of the config that every ready picker runs. */
  private static Set<ModelConfig> running(
      Observation seen,
      List<Replica> replicas,
      PoolConfig config,
      ConfigHash hash,
      HeldConfig held,
      GivenConfigs given) {
    String pool = seen.pool().getMetadata().getUid();
    Map<ConfigHash, PoolConfig> now = new HashMap<>(Map.of(hash, config));
    held.underGoodScheduling(config).ifPresent(other -> now.put(ConfigDocument.hash(other), other));
    Set<ConfigHash> reported = held.reported();
    reported.stream()
        .filter(one -> !now.containsKey(one) && given.of(pool, one).isEmpty())
        .forEach(one -> held.document(one).ifPresent(found -> now.put(one, found)));
    given.give(pool, now, reported);
    return RunningModels.of(
        replicas, config, running -> given.of(pool, running).map(PoolConfig::models));
  }

  /** What pickers run can't be told from what they should: the document that says so is lost. */
  private static Verdict unknown(Observation seen) {
    String message =
        "ConfigMap %s/%s, which said what the pickers run, is not there or can't be read, and without %s, of which it is not known which there are, no other can be made; the pickers go on with what they have"
            .formatted(
                seen.pool().getMetadata().getNamespace(),
                Names.child(seen.pool().getMetadata().getName()),
                String.join(" and ", new TreeSet<>(seen.unread().kinds())));
    return seen.unread().problems().isEmpty()
        ? Verdict.pending(message)
        : Verdict.no(Reason.API_SERVER_ERROR, message);
  }

  /** Of what names the pool, where no config can be made that it could be in. */
  private static Verdict noConfig(InferencePool pool, @Nullable PoolConfig inForce) {
    return Verdict.pending(
        (inForce == null
                ? "InferencePool %s has no config that it could be in; condition Accepted of the pool says why"
                : "The config of InferencePool %s stays as it is, and takes in nothing new; condition Accepted of the pool says why")
            .formatted(pool.getMetadata().getName()));
  }

  private static Set<String> unseen(@Nullable PoolConfig visible, @Nullable PoolConfig compiled) {
    Set<String> names = new TreeSet<>();
    if (visible != null && compiled != null) {
      compiled.models().forEach(model -> names.add(model.name()));
      visible.models().forEach(model -> names.remove(model.name()));
    }
    return names;
  }

  /** What is refused changes no pod: as of the config, what runs of it stays. */
  private static List<ExternalPlace> schedulers(
      Observation seen, @Nullable EndpointPicker picker, Compilation compilation, boolean newest) {
    EndpointPickerSpec asked = picker == null ? null : picker.getSpec();
    List<ExternalPlace> there =
        seen.child(Deployment.class, Names.child(seen.pool().getMetadata().getName()))
            .map(Children::schedulers)
            .orElse(List.of());
    Stream<ExternalPlace> inForce =
        newest && !compilation.refuses("spec.scheduling")
            ? ExternalPlace.ofScheduling(asked).stream()
            : there.stream().filter(ExternalPlace::isInForce);
    Stream<ExternalPlace> tried =
        newest && !compilation.refuses("spec.shadows")
            ? ExternalPlace.ofShadows(asked).stream()
            : there.stream().filter(place -> !place.isInForce());
    return Stream.concat(inForce, tried).toList();
  }

  private static Verdict tooLarge(InferencePool pool, @Nullable PoolConfig inForce) {
    String name = pool.getMetadata().getName();
    return Verdict.no(
        Reason.CONFIG_TOO_LARGE,
        "The config of InferencePool %s is larger than ConfigMap %s/%s can hold, compressed too; delete InferenceModels, take targets from their spec.targetModels, or name another pool in their spec.poolRef%s"
            .formatted(
                name,
                pool.getMetadata().getNamespace(),
                Names.child(name),
                inForce == null ? "" : "; the config that was in force stays"));
  }

  private static Verdict accepted(
      Compilation compilation,
      Optional<Selected> selected,
      @Nullable EndpointPicker picker,
      @Nullable PoolConfig config) {
    Stream<Verdict> pickers =
        selected.stream()
            .map(
                one ->
                    one.now() && config != null
                        ? one.why().worded(said -> said + "; the config that was in force stays")
                        : one.why());
    return Stream.concat(pickers, found(compilation, config))
        .collect(Collectors.collectingAndThen(Collectors.toList(), PoolDesire::joined))
        .orElseGet(
            () ->
                Verdict.yes(
                    Reason.ACCEPTED,
                    picker == null
                        ? "The pool is served with defaults; an EndpointPicker that names it can set more"
                        : "The pool is served as EndpointPicker %s says"
                            .formatted(picker.getMetadata().getName())));
  }

  private static Stream<Verdict> found(Compilation compilation, @Nullable PoolConfig config) {
    return compilation.findings().stream()
        .filter(finding -> finding.severity() == Severity.REJECTS)
        .filter(finding -> OF_THE_POOL.contains(finding.object().kind()))
        .filter(finding -> !finding.reason().equals(Finding.INVALID_EXTENSION_REF))
        .map(
            finding ->
                Verdict.no(
                    Reason.of(finding.reason()),
                    finding.object()
                        + ": "
                        + finding.message()
                        + (config == null ? "" : kept(finding, compilation))));
  }

  private static Optional<Verdict> joined(List<Verdict> verdicts) {
    return verdicts.isEmpty() ? Optional.empty() : Optional.of(Verdict.all(verdicts));
  }

  private static String kept(Finding finding, Compilation compilation) {
    return compilation.config() == null
        ? "; the config that was in force stays"
        : finding.object().kind().equals("EndpointPicker") ? "; what was in force of it stays" : "";
  }

  /**
   * A pool may have thousands, so nothing is searched for each of them.
   *
   * @param noConfig why no config can be made; null where one was
   * @param kept what is in force where none was
   */
  private static List<JudgedModel> judged(
      List<InferenceModel> models,
      Compilation compilation,
      @Nullable Verdict noConfig,
      Set<ModelConfig> kept,
      Set<ModelConfig> running) {
    Map<ObjectRef, List<Finding>> findings =
        compilation.findings().stream().collect(Collectors.groupingBy(Finding::object));
    Map<ObjectRef, AcceptedModel> accepted =
        compilation.accepted().stream()
            .collect(
                Collectors.toMap(
                    AcceptedModel::object, Function.identity(), (first, other) -> first));
    return models.stream()
        .filter(model -> !model.isMarkedForDeletion())
        .map(
            model -> {
              ObjectRef object =
                  new ObjectRef(
                      model.getKind(),
                      model.getMetadata().getNamespace(),
                      model.getMetadata().getName());
              AcceptedModel won = accepted.get(object);
              return judge(
                  model,
                  findings.getOrDefault(object, List.of()),
                  won == null ? "The pool serves the model" : won.message(),
                  won != null && kept.contains(won.config()) ? null : noConfig,
                  won != null && running.contains(won.config()));
            })
        .toList();
  }

  private static JudgedModel judge(
      InferenceModel model,
      List<Finding> findings,
      String message,
      @Nullable Verdict noConfig,
      boolean runs) {
    Optional<Finding> rejection =
        findings.stream().filter(finding -> finding.severity() == Severity.REJECTS).findFirst();
    if (rejection.isPresent()) {
      return rejected(model, rejection.get());
    }
    String warnings =
        findings.stream()
            .map(finding -> ", but without what is wrong: " + finding.message())
            .collect(Collectors.joining());
    Verdict accepted =
        noConfig != null
            ? noConfig
            : Verdict.yes(
                Reason.ACCEPTED,
                "The pool sends its requests to " + Targets.read(model.getSpec()) + warnings);
    return new JudgedModel(model, accepted, Verdict.yes(Reason.RESOLVED_REFS, message), runs);
  }

  /** Also for a model without a pool, see {@link PoolCompiler#withoutPool}. */
  public static JudgedModel rejected(InferenceModel model, Finding finding) {
    Verdict no = Verdict.no(Reason.of(finding.reason()), finding.message());
    return switch (finding.reason()) {
      case Finding.INVALID_POOL_REF, Finding.POOL_NOT_FOUND ->
          new JudgedModel(
              model, Verdict.pending("The model is judged when its pool is found"), no, false);
      default ->
          new JudgedModel(
              model,
              no,
              model.getSpec() == null
                  ? Verdict.no(Reason.INVALID_POOL_REF, "The InferenceModel has no spec.poolRef")
                  : Verdict.yes(Reason.RESOLVED_REFS, "The pool is named"),
              false);
    };
  }
}
