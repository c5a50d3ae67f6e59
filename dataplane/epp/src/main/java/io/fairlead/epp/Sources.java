package io.fairlead.epp;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.epp.checkpoint.CheckpointFile;
import io.fairlead.epp.checkpoint.CheckpointUse;
import io.fairlead.epp.checkpoint.CheckpointedConfig;
import io.fairlead.epp.checkpoint.CheckpointedEndpoints;
import io.fairlead.epp.config.ConfigMapSource;
import io.fairlead.epp.config.ConfigReaders;
import io.fairlead.epp.config.ConfigSource;
import io.fairlead.epp.config.FileConfigSource;
import io.fairlead.epp.config.FixedConfigSource;
import io.fairlead.epp.config.InferencePoolSource;
import io.fairlead.epp.config.SelectedPodsSource;
import io.fairlead.epp.datalayer.EndpointSource;
import io.fairlead.epp.datalayer.PodEndpointSource;
import io.fairlead.epp.datalayer.ReplicaSource;
import io.fairlead.epp.status.LeaseReporter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a pool is fed from.
 *
 * @param pods null when the endpoints come with the config
 * @param replicas null where nobody can say how many pickers share the pool
 * @param client to be closed with the rest, null without Kubernetes
 * @param identity what is read from an API server, for a checkpoint of it; null without one
 */
record Sources(
    ConfigSource configs,
    @Nullable EndpointSource pods,
    @Nullable ReplicaSource replicas,
    @Nullable LeaseReporter reporter,
    @Nullable KubernetesClient client,
    @Nullable String identity) {

  /** A change takes effect well within a second. */
  private static final Duration FILE_POLL = Duration.ofMillis(250);

  /** An API server that is well answers within a fraction of it. */
  private static final long CONFIG_PATIENCE_MILLIS = 2_000;

  private static final long ENDPOINTS_PATIENCE_MILLIS = 1_000;

  /**
   * What is wrong in a file can be mended while the picker waits, but a path that leads nowhere was
   * most likely mistyped.
   *
   * @throws IllegalArgumentException if a file or folder that {@code source} names is not there
   */
  static void requireFiles(DataPlaneConfig.Source source) {
    List<@Nullable Path> named =
        switch (source) {
          case DataPlaneConfig.Folder folder -> List.of(folder.path());
          case DataPlaneConfig.Files files -> Arrays.asList(files.endpoints(), files.config());
          case ClusterPool pool when pool.scheduling() instanceof ClusterPool.InFile file ->
              List.of(file.path());
          case ClusterPool _, DataPlaneConfig.Kubernetes _ -> List.of();
        };
    for (Path path : named) {
      if (path != null && Files.notExists(path)) {
        throw new IllegalArgumentException(path + ": there is no such file or folder");
      }
    }
  }

  static Sources of(DataPlaneConfig.Source source, ScheduledExecutorService control) {
    return switch (source) {
      case DataPlaneConfig.Kubernetes kubernetes -> kubernetes(kubernetes, control);
      case ClusterPool pool -> cluster(pool, control);
      case DataPlaneConfig.Folder folder -> local(folder(folder));
      case DataPlaneConfig.Files files -> local(files(files));
    };
  }

  private static Sources local(ConfigSource configs) {
    return new Sources(configs, null, null, null, null, null);
  }

  /** The same, with what is kept of it standing in while the API server does not answer. */
  Sources with(CheckpointFile file, CheckpointUse use, ScheduledExecutorService control) {
    return new Sources(
        new CheckpointedConfig(configs, use, file.path(), CONFIG_PATIENCE_MILLIS, control),
        pods == null
            ? null
            : new CheckpointedEndpoints(pods, use, ENDPOINTS_PATIENCE_MILLIS, control),
        replicas,
        reporter,
        client,
        identity);
  }

  static ConfigSource folder(DataPlaneConfig.Folder folder) {
    Path path = folder.path();
    return new FileConfigSource(
        List.of(path), FILE_POLL, state -> ConfigReaders.folder(state, path));
  }

  static ConfigSource files(DataPlaneConfig.Files files) {
    List<Path> paths =
        Stream.of(files.endpoints(), files.config()).filter(Objects::nonNull).toList();
    return new FileConfigSource(
        paths, FILE_POLL, state -> ConfigReaders.files(state, files.endpoints(), files.config()));
  }

  /** What a pool that the picker reads itself is to run. */
  static ConfigSource pool(ClusterPool source, KubernetesClient client) {
    return switch (source.members()) {
      case ClusterPool.OfPool pool ->
          new InferencePoolSource(
              client,
              source.namespace(),
              pool.name(),
              pool.group(),
              scheduling(source.scheduling()));
      case ClusterPool.Selected pods ->
          new SelectedPodsSource(
              scheduling(source.scheduling()),
              source.namespace(),
              pods.name(),
              pods.labels(),
              pods.ports());
    };
  }

  private static ConfigSource scheduling(ClusterPool.Scheduling scheduling) {
    return switch (scheduling) {
      case ClusterPool.UpstreamDefault _ -> new FixedConfigSource(ConfigReaders.upstreamDefault());
      case ClusterPool.Inline inline ->
          new FixedConfigSource(ConfigReaders.scheduling("--config-text", inline.text()));
      case ClusterPool.InFile file ->
          new FileConfigSource(
              List.of(file.path()),
              FILE_POLL,
              state -> ConfigReaders.scheduling(state, file.path()));
    };
  }

  private static Sources cluster(ClusterPool source, ScheduledExecutorService control) {
    KubernetesClient client = source.client().get();
    return new Sources(
        pool(source, client),
        new PodEndpointSource(client, source.namespace(), control),
        source.service() == null
            ? null
            : ReplicaSource.ofService(client, source.namespace(), source.service(), control),
        null,
        client,
        identity(source));
  }

  private static Sources kubernetes(
      DataPlaneConfig.Kubernetes source, ScheduledExecutorService control) {
    KubernetesClient client = source.client().get();
    DataPlaneConfig.Reporting r = source.reporting();
    return new Sources(
        new ConfigMapSource(
            client, source.namespace(), source.configMap(), ConfigReaders::document),
        new PodEndpointSource(client, source.namespace(), control),
        r == null ? null : ReplicaSource.ofPicker(client, source.namespace(), r.picker(), control),
        r == null
            ? null
            : new LeaseReporter(
                client,
                new LeaseReporter.Identity(r.picker(), r.podName(), r.podNamespace(), r.podUid())),
        client,
        "ConfigMap " + source.namespace() + "/" + source.configMap());
  }

  private static String identity(ClusterPool source) {
    return switch (source.members()) {
      case ClusterPool.OfPool pool ->
          "InferencePool." + pool.group() + " " + source.namespace() + "/" + pool.name();
      case ClusterPool.Selected pods ->
          "pods " + source.namespace() + "/" + new TreeMap<>(pods.labels());
    };
  }
}
