package io.fairlead.epp.config;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fairlead.crds.compile.Compilation;
import io.fairlead.crds.compile.Finding;
import io.fairlead.crds.compile.ObjectRef;
import io.fairlead.crds.compile.PoolCompiler;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.document.DocumentException;
import io.fairlead.crds.document.FieldError;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.local.LocalResourceReader;
import io.fairlead.crds.local.LocalResources;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.epp.datalayer.EndpointSet;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A folder of resources as one config: exactly one pool, its models, its endpoints.
 *
 * <p>Stricter than a cluster, where one odd object must not touch its neighbours: here somebody has
 * just saved a file and wants to know what is wrong with it.
 */
final class FolderReader {

  private final FileState state;
  private final Path folder;
  private final List<FieldError> errors = new ArrayList<>();

  private FolderReader(FileState state, Path folder) {
    this.state = state;
    this.folder = folder;
  }

  static ConfigOffer read(FileState state, Path folder) {
    return new FolderReader(state, folder).offer();
  }

  private ConfigOffer offer() {
    // What the hash was made of, and not what the folder holds by now.
    LocalResources resources = LocalResourceReader.read(state.texts());
    errors.addAll(resources.errors());
    objects(resources).forEach(FolderReader::inDefaultNamespace);
    ConfigOffer.Document document = compile(resources);
    if (document != null && errors.isEmpty()) {
      return document;
    }
    return new ConfigOffer.Unreadable(
            folder.toString(), state.hash(), ConfigReaders.messages(errors))
        .with(document == null ? null : new ConfigOffer.Unreadable.Rest(document, false));
  }

  /** Null where the rest can't be understood for what is wrong. */
  private ConfigOffer.@Nullable Document compile(LocalResources resources) {
    if (!errors.isEmpty() && resources.pools().isEmpty()) {
      return null; // The pool may be what can't be read.
    }
    if (resources.pools().size() != 1) {
      error("", "", "holds " + resources.pools().size() + " InferencePools; keep exactly one");
      return null;
    }
    if (resources.pickers().size() > 1) {
      error("", "", "holds " + resources.pickers().size() + " EndpointPickers; keep at most one");
      return null;
    }
    InferencePool pool = resources.pools().getFirst();
    Compilation compilation =
        PoolCompiler.compile(
            pool, resources.models(), resources.pickers().stream().findFirst().orElse(null));
    compilation.findings().stream().filter(FolderReader::isError).forEach(this::error);
    for (InferenceModel model : resources.models()) {
      if (!onPool(model, pool)) {
        error(PoolCompiler.withoutPool(model));
      }
    }
    PoolConfig config = compilation.config();
    SchedulingPlace scheduling =
        resources.pickers().stream()
            .findFirst()
            .map(this::scheduling)
            .orElse(new SchedulingPlace(folder.toString(), ""));
    @Nullable EndpointSet endpoints = null;
    try {
      endpoints = LocalEndpoints.of(folder.toString(), resources);
    } catch (DocumentException e) {
      errors.addAll(e.errors());
    }
    return config == null
        ? null
        : ConfigReaders.offer(folder.toString(), state.hash(), config, endpoints, scheduling);
  }

  private static boolean isError(Finding finding) {
    return finding.severity() == Finding.Severity.REJECTS
        || finding.reason().equals(Finding.INVALID_ANNOTATION);
  }

  private SchedulingPlace scheduling(EndpointPicker picker) {
    ObjectRef object =
        new ObjectRef(
            picker.getKind(), picker.getMetadata().getNamespace(), picker.getMetadata().getName());
    return new SchedulingPlace(fileOf(object), object + ": spec.scheduling.");
  }

  private static boolean onPool(InferenceModel model, InferencePool pool) {
    return model.getSpec() == null
        || (Objects.equals(model.getMetadata().getNamespace(), pool.getMetadata().getNamespace())
            && model.getSpec().poolRef() != null
            && Objects.equals(model.getSpec().poolRef().name(), pool.getMetadata().getName()));
  }

  private void error(Finding finding) {
    // The finding's message begins with the path already.
    error(fileOf(finding.object()), "", finding.object() + ": " + finding.message());
  }

  private void error(String file, String path, String message) {
    errors.add(new FieldError(file.isEmpty() ? folder.toString() : file, 0, path, message));
  }

  private String fileOf(ObjectRef object) {
    return state.files().stream()
        .filter(
            file ->
                objects(LocalResourceReader.read(file.path().toString(), file.text()))
                    .peek(FolderReader::inDefaultNamespace)
                    .anyMatch(o -> is(o, object)))
        .map(file -> file.path().toString())
        .findFirst()
        .orElse(folder.toString());
  }

  private static boolean is(HasMetadata object, ObjectRef ref) {
    return ref.kind().equals(object.getKind())
        && ref.name().equals(object.getMetadata().getName())
        && ref.namespace().equals(object.getMetadata().getNamespace());
  }

  private static Stream<HasMetadata> objects(LocalResources resources) {
    return Stream.of(resources.pools(), resources.models(), resources.pickers())
        .flatMap(List::stream);
  }

  private static void inDefaultNamespace(HasMetadata object) {
    if (object.getMetadata().getNamespace() == null) {
      object.getMetadata().setNamespace("default");
    }
  }
}
