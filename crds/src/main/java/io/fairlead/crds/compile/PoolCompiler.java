package io.fairlead.crds.compile;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.Nesting;
import io.fairlead.crds.compile.Compilation.AcceptedModel;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.ObjectiveConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.ShadowConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.crds.document.ExternalDocument;
import io.fairlead.crds.document.FieldError;
import io.fairlead.crds.document.FieldPath;
import io.fairlead.crds.document.PluginTypes;
import io.fairlead.crds.document.RequestsDocument;
import io.fairlead.crds.document.SchedulerDocument;
import io.fairlead.crds.document.ShadowsDocument;
import io.fairlead.crds.document.SourceTree;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.ExternalPlace;
import io.fairlead.crds.fairlead.v1alpha1.Frontend;
import io.fairlead.crds.fairlead.v1alpha1.RequestsSpec;
import io.fairlead.crds.fairlead.v1alpha1.SchedulingFromSpec;
import io.fairlead.crds.fairlead.v1alpha1.SchedulingFromSpec.ConfigMapKeyRef;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1.InferencePoolSpec;
import io.fairlead.crds.v1.Port;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.crds.v1alpha2.InferenceModelSpec;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Compiles a pool, its picker and what names it to the config document: the same result for the
 * same objects in any order.
 */
public final class PoolCompiler {
  private static final JsonMapper JSON = new JsonMapper();

  private final List<Finding> findings = new ArrayList<>();
  private final List<AcceptedModel> accepted = new ArrayList<>();

  private final @Nullable PluginTypes types;
  private final Supplier<@Nullable PoolConfig> lastGood;

  private final SchedulingText from;

  private PoolCompiler(
      @Nullable PluginTypes types, Supplier<@Nullable PoolConfig> lastGood, SchedulingText from) {
    this.types = types;
    this.lastGood = lastGood;
    this.from = from;
  }

  /**
   * Compiles {@code pool} for a scheduler that is asked itself about plugins.
   *
   * @param models InferenceModels of any pool; those of other namespaces and other pools are passed
   *     over
   * @param picker the pool's EndpointPicker, if it has one
   */
  public static Compilation compile(
      InferencePool pool, List<InferenceModel> models, @Nullable EndpointPicker picker) {
    return compile(pool, models, picker, UpstreamObjects.NONE);
  }

  /**
   * Compiles {@code pool} for a scheduler that is asked itself about plugins.
   *
   * @param models InferenceModels of any pool; those of other namespaces and other pools are passed
   *     over, as of {@code upstream}
   * @param picker the pool's EndpointPicker, if it has one
   */
  public static Compilation compile(
      InferencePool pool,
      List<InferenceModel> models,
      @Nullable EndpointPicker picker,
      UpstreamObjects upstream) {
    return new PoolCompiler(null, () -> null, SchedulingText.NOT_FOLLOWED)
        .compiled(pool, models, picker, upstream);
  }

  /**
   * Compiles {@code pool} for a scheduler that is elsewhere: plugins are checked as far as their
   * types say, and of a picker whose scheduling or requests cannot be run, what ran before of those
   * stays.
   *
   * @param models InferenceModels of any pool; those of other namespaces and other pools are passed
   *     over, as of {@code upstream}
   * @param picker the pool's EndpointPicker, if it has one
   * @param types the plugin types of the scheduler
   * @param lastGood what ran before; null when nothing did
   */
  public static Compilation compile(
      InferencePool pool,
      List<InferenceModel> models,
      @Nullable EndpointPicker picker,
      UpstreamObjects upstream,
      PluginTypes types,
      @Nullable PoolConfig lastGood) {
    return compile(
        pool, models, picker, upstream, types, () -> lastGood, SchedulingText.NOT_FOLLOWED);
  }

  /**
   * The same for a picker whose scheduling may be elsewhere.
   *
   * @param lastGood what ran before, null when nothing did; asked only where a picker can't be run,
   *     since to find it may take as long as all else
   * @param from what {@code spec.schedulingFrom} leads to; not looked at where there is none
   */
  public static Compilation compile(
      InferencePool pool,
      List<InferenceModel> models,
      @Nullable EndpointPicker picker,
      UpstreamObjects upstream,
      PluginTypes types,
      Supplier<@Nullable PoolConfig> lastGood,
      SchedulingText from) {
    return new PoolCompiler(types, lastGood, from).compiled(pool, models, picker, upstream);
  }

  private Compilation compiled(
      InferencePool pool,
      List<InferenceModel> models,
      @Nullable EndpointPicker picker,
      UpstreamObjects upstream) {
    findings.addAll(PoolCheck.of(pool));
    boolean usable = findings.stream().noneMatch(f -> f.severity() == Finding.Severity.REJECTS);
    if (picker != null) {
      frontend(picker);
    }
    RequestsConfig requests = picker == null ? RequestsConfig.DEFAULT : requests(picker);
    SchedulerConfig scheduler = picker == null ? SchedulerConfig.DEFAULT : scheduler(picker);
    List<ShadowConfig> shadows = picker == null ? List.of() : shadows(picker);
    List<ModelConfig> configs = models(pool, models, upstream);
    return new Compilation(
        usable && requests != null && scheduler != null
            ? config(pool, configs, upstream.objectives(pool), requests, scheduler)
                .withShadows(shadows)
            : null,
        accepted,
        findings);
  }

  /**
   * What is wrong with a model whose pool does not exist, or which names none: the finding for its
   * conditions.
   */
  public static Finding withoutPool(InferenceModel model) {
    Optional<Finding> invalid = ModelCheck.of(model);
    if (invalid.isPresent()) {
      return invalid.get();
    }
    return switch (PoolReferences.resolve(model.getSpec().poolRef())) {
      case PoolReferences.Invalid ref -> badReference(model, ref);
      case PoolReferences.Pool ref ->
          new Finding(
              ObjectRef.of(model),
              "spec.poolRef.name",
              Finding.POOL_NOT_FOUND,
              "InferencePool "
                  + ref.name()
                  + " does not exist in namespace "
                  + model.getMetadata().getNamespace()
                  + "; create it or correct spec.poolRef.name",
              Finding.Severity.REJECTS);
    };
  }

  private static Finding badReference(InferenceModel model, PoolReferences.Invalid ref) {
    return new Finding(
        ObjectRef.of(model),
        ref.path(),
        Finding.INVALID_POOL_REF,
        ref.path() + " " + ref.message(),
        Finding.Severity.REJECTS);
  }

  /** No part of the config: whoever runs pickers goes on with the one before. */
  private void frontend(EndpointPicker picker) {
    String name = picker.getSpec() == null ? null : picker.getSpec().frontend();
    if (Frontend.of(name).isEmpty()) {
      findings.add(
          new Finding(
              ObjectRef.of(picker),
              "spec.frontend",
              Finding.INVALID_SPEC,
              "spec.frontend is "
                  + FieldPath.quote(String.valueOf(name))
                  + ", expected one of "
                  + String.join(", ", Frontend.wireNames()),
              Finding.Severity.REJECTS));
    }
  }

  /** Null when there is none that could run. */
  private @Nullable RequestsConfig requests(EndpointPicker picker) {
    RequestsSpec requests = picker.getSpec() == null ? null : picker.getSpec().requests();
    if (requests == null) {
      return RequestsConfig.DEFAULT;
    }
    ObjectRef object = ObjectRef.of(picker);
    JsonNode node = JSON.valueToTree(requests);
    SourceTree tree = SourceTree.of(object.toString(), node);
    RequestsConfig config = RequestsDocument.read(tree, new FieldPath("spec.requests"), node);
    for (FieldError error : tree.errors()) {
      findings.add(finding(object, error, Finding.INVALID_SPEC, Finding.Severity.REJECTS));
    }
    return tree.errors().isEmpty() ? config : before(PoolConfig::requests);
  }

  /** Null when there is none that could run. */
  private @Nullable SchedulerConfig scheduler(EndpointPicker picker) {
    SchedulingFromSpec from = picker.getSpec() == null ? null : picker.getSpec().schedulingFrom();
    if (from != null) {
      return scheduler(picker, from);
    }
    JsonNode scheduling = picker.getSpec() == null ? null : picker.getSpec().scheduling();
    if (scheduling == null || scheduling.isNull()) {
      return SchedulerConfig.DEFAULT;
    }
    ObjectRef object = ObjectRef.of(picker);
    SourceTree tree = SourceTree.of(object.toString(), scheduling);
    FieldPath path = new FieldPath("spec.scheduling");
    JsonNode whole = scheduling.deepCopy();
    ExternalDocument.replace(tree, path, whole, ExternalPlace::inForce);
    SchedulerConfig config = SchedulerDocument.read(tree, path, whole);
    checkPlugins(tree, path, scheduling, picker);
    for (FieldError error : tree.errors()) {
      findings.add(finding(object, error, Finding.INVALID_SPEC, Finding.Severity.REJECTS));
    }
    for (FieldError warning : tree.warnings()) {
      findings.add(finding(object, warning, Finding.NOT_CARRIED_OUT, Finding.Severity.WARNS));
    }
    return tree.errors().isEmpty() ? config : before(PoolConfig::scheduler);
  }

  private @Nullable SchedulerConfig scheduler(EndpointPicker picker, SchedulingFromSpec where) {
    ObjectRef object = ObjectRef.of(picker);
    ConfigMapKeyRef ref = where.configMapKeyRef();
    String problem =
        picker.getSpec().scheduling() != null
            ? "stands beside spec.scheduling; remove one of the two"
            : ref == null ? "is missing; name a ConfigMap and a key" : from.problem();
    String text = from.text();
    if (ref == null || problem != null || text == null) {
      String path = "spec.schedulingFrom.configMapKeyRef";
      findings.add(
          new Finding(
              object, path, Finding.INVALID_SPEC, path + " " + problem, Finding.Severity.REJECTS));
      return before(PoolConfig::scheduler);
    }
    SourceTree tree = SourceTree.parseOne(ref.name() + "/" + ref.key(), text);
    SchedulerConfig config = SchedulerConfig.DEFAULT;
    if (tree.errors().isEmpty()) {
      JsonNode root = tree.root();
      if (root instanceof ObjectNode fields && fields.remove("external") != null) {
        tree.error(
            FieldPath.ROOT.field("external"),
            "is not taken from a ConfigMap; set the whole in spec.scheduling");
      }
      config = SchedulerDocument.read(tree, FieldPath.ROOT, root);
      checkPlugins(tree, FieldPath.ROOT, root, picker);
    }
    for (FieldError error : tree.errors()) {
      findings.add(inConfigMap(object, ref, error, Finding.Severity.REJECTS));
    }
    for (FieldError warning : tree.warnings()) {
      findings.add(inConfigMap(object, ref, warning, Finding.Severity.WARNS));
    }
    return tree.errors().isEmpty() ? config : before(PoolConfig::scheduler);
  }

  /** One that is nested too deep is told so, and none of it is looked at. */
  private void checkPlugins(
      SourceTree tree, FieldPath path, JsonNode scheduling, EndpointPicker picker) {
    if (types != null && !Nesting.isTooDeep(scheduling)) {
      types.check(
          tree, path.field("plugins"), scheduling.path("plugins"), picker.getSpec().pluginTypes());
    }
  }

  private static Finding inConfigMap(
      ObjectRef object, ConfigMapKeyRef ref, FieldError what, Finding.Severity severity) {
    return new Finding(
        object,
        "spec.schedulingFrom.configMapKeyRef",
        severity == Finding.Severity.REJECTS ? Finding.INVALID_SPEC : Finding.NOT_CARRIED_OUT,
        "key %s of ConfigMap %s: %s%s%s"
            .formatted(
                ref.key(),
                ref.name(),
                what.line() == 0 ? "" : "line " + what.line() + ": ",
                what.path().isEmpty() ? "" : what.path() + " ",
                what.message()),
        severity);
  }

  /** What is tried must not keep what is in force from being changed: the wrong ones stay out. */
  private List<ShadowConfig> shadows(EndpointPicker picker) {
    if (picker.getSpec() == null || picker.getSpec().shadows().isEmpty()) {
      return List.of();
    }
    ObjectRef object = ObjectRef.of(picker);
    JsonNode list = JSON.<JsonNode>valueToTree(picker.getSpec().shadows()).deepCopy();
    SourceTree tree = SourceTree.of(object.toString(), list);
    FieldPath path = new FieldPath("spec.shadows");
    for (int i = 0; i < list.size(); i++) {
      String name = list.path(i).path("name").asText();
      FieldPath at = path.element(i).field("scheduling");
      JsonNode scheduling = list.path(i).path("scheduling");
      noSidecar(tree, at, scheduling);
      ExternalDocument.replace(tree, at, scheduling, spec -> ExternalPlace.ofShadow(name, spec));
    }
    List<ShadowConfig> read = ShadowsDocument.read(tree, path, list);
    for (int i = 0; i < list.size(); i++) {
      checkPlugins(
          tree, path.element(i).field("scheduling"), list.path(i).path("scheduling"), picker);
    }
    for (FieldError error : tree.errors()) {
      findings.add(finding(object, error, Finding.INVALID_SPEC, Finding.Severity.REJECTS));
    }
    for (FieldError warning : tree.warnings()) {
      findings.add(finding(object, warning, Finding.NOT_CARRIED_OUT, Finding.Severity.WARNS));
    }
    if (tree.errors().isEmpty()) {
      return read;
    }
    List<ShadowConfig> ran = before(PoolConfig::shadows);
    return ran == null ? List.of() : ran;
  }

  /** A part of what ran before; null when nothing did. */
  private <T> @Nullable T before(Function<PoolConfig, T> part) {
    PoolConfig ran = lastGood.get();
    return ran == null ? null : part.apply(ran);
  }

  /** What is tried must harm nothing, and a pod whose container crashes is not ready. */
  private static void noSidecar(SourceTree tree, FieldPath path, JsonNode scheduling) {
    if (scheduling.path("external").hasNonNull("sidecar")) {
      tree.error(
          path.field("external").field("sidecar"),
          "is not for a shadow: when it crashes, its picker is not ready, and nor is what is in force; run it apart, and name it in service");
    }
  }

  private static Finding finding(
      ObjectRef object, FieldError error, String reason, Finding.Severity severity) {
    return new Finding(
        object, error.path(), reason, error.path() + " " + error.message(), severity);
  }

  private List<ModelConfig> models(
      InferencePool pool, List<InferenceModel> models, UpstreamObjects upstream) {
    Map<String, ModelConfig> configs = new TreeMap<>();
    Map<String, AcceptedModel> winners = new TreeMap<>();
    List<Finding> found = new ArrayList<>();
    models.stream()
        .filter(
            model ->
                Objects.equals(
                    model.getMetadata().getNamespace(), pool.getMetadata().getNamespace()))
        .filter(model -> model.getMetadata().getDeletionTimestamp() == null)
        .sorted(ModelOrder.OLDEST_FIRST)
        .forEach(model -> model(pool, model, configs, winners, found));
    found.sort(Comparator.comparing(finding -> finding.object().name()));
    findings.addAll(found);
    accepted.addAll(winners.values());
    Map<String, ObjectRef> taken = new TreeMap<>();
    winners.forEach((name, winner) -> taken.put(name, winner.object()));
    ModelRewrites rewrites = new ModelRewrites(configs, taken, findings);
    PoolMembers.of(upstream.rewrites(), pool).forEach(rewrites::add);
    return List.copyOf(configs.values());
  }

  private static void model(
      InferencePool pool,
      InferenceModel model,
      Map<String, ModelConfig> configs,
      Map<String, AcceptedModel> winners,
      List<Finding> found) {
    InferenceModelSpec spec = model.getSpec();
    if (spec == null) {
      // It names no pool, so every pool of the namespace names it.
      ModelCheck.of(model).ifPresent(found::add);
      return;
    }
    if (spec.poolRef() == null
        || !Objects.equals(spec.poolRef().name(), pool.getMetadata().getName())) {
      return;
    }
    Optional<Finding> invalid = ModelCheck.of(model);
    if (invalid.isPresent()) {
      found.add(invalid.get());
      return;
    }
    switch (PoolReferences.resolve(spec.poolRef())) {
      case PoolReferences.Invalid ref -> found.add(badReference(model, ref));
      case PoolReferences.Pool ref -> {
        ModelAnnotations annotations = ModelAnnotations.of(model);
        ModelConfig config = config(spec, annotations);
        AcceptedModel winner = winners.get(config.name());
        if (winner == null) {
          configs.put(config.name(), config);
          winners.put(
              config.name(), new AcceptedModel(ObjectRef.of(model), config, ref.note(pool)));
          found.addAll(annotations.findings());
        } else {
          found.add(nameInUse(model, winner.object()));
        }
      }
    }
  }

  private static Finding nameInUse(InferenceModel model, ObjectRef winner) {
    return new Finding(
        ObjectRef.of(model),
        "spec.modelName",
        Finding.MODEL_NAME_IN_USE,
        "spec.modelName "
            + FieldPath.quote(String.valueOf(model.getSpec().modelName()))
            + " belongs to the older "
            + winner
            + "; delete that one, or create this one under another model name",
        Finding.Severity.REJECTS);
  }

  private static ModelConfig config(InferenceModelSpec spec, ModelAnnotations annotations) {
    String name = Objects.requireNonNull(spec.modelName());
    List<TargetModel> targets = new ArrayList<>();
    for (io.fairlead.crds.v1alpha2.TargetModel target : spec.targetModels()) {
      Integer weight = target.weight();
      targets.add(
          new TargetModel(Objects.requireNonNull(target.name()), weight == null ? 1 : weight));
    }
    return new ModelConfig(
        name,
        ModelCheck.criticality(spec.criticality()).orElseThrow(),
        targets.isEmpty() ? List.of(new TargetModel(name, 1)) : targets,
        annotations.timeouts(),
        annotations.queue(),
        annotations.latency());
  }

  private static PoolConfig config(
      InferencePool pool,
      List<ModelConfig> models,
      List<ObjectiveConfig> objectives,
      RequestsConfig requests,
      SchedulerConfig scheduler) {
    InferencePoolSpec spec = pool.getSpec();
    List<Integer> ports = new ArrayList<>();
    for (Port port : spec.targetPorts()) {
      ports.add(Objects.requireNonNull(port.number()));
    }
    return new PoolConfig(
        String.valueOf(pool.getMetadata().getNamespace()),
        String.valueOf(pool.getMetadata().getName()),
        Objects.requireNonNull(spec.selector()).matchLabels(),
        ports,
        spec.appProtocol() == null ? "http" : spec.appProtocol(),
        models,
        objectives,
        requests,
        scheduler);
  }
}
