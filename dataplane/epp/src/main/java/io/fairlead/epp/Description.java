package io.fairlead.epp;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Route;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.document.SchedulerDocument;
import io.fairlead.epp.config.ConfigMapSource;
import io.fairlead.epp.config.ConfigOffer;
import io.fairlead.epp.config.ConfigReaders;
import io.fairlead.epp.config.ConfigSource;
import io.fairlead.epp.config.DocumentCompiler;
import io.fairlead.epp.datalayer.EndpointSet;
import io.fairlead.epp.tls.EndpointTls;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What a config would run, as text for people. */
final class Description {

  private Description() {}

  static String of(DataPlaneConfig config) {
    var _ = EndpointTls.of(config.endpoints()); // says what is wrong with its file
    ConfigOffer offer = read(config.source());
    DocumentCompiler compiler = new DocumentCompiler(PluginTypes.found());
    return switch (offer) {
      case ConfigOffer.Unreadable unreadable ->
          throw new IllegalArgumentException(compiler.problems(unreadable));
      case ConfigOffer.Document document -> {
        yield switch (compiler.compile(document, null)) {
          case DocumentCompiler.Result.Refused refused ->
              throw new IllegalArgumentException(refused.message());
          case DocumentCompiler.Result.Usable usable -> text(config, document, usable.warnings());
        };
      }
    };
  }

  private static ConfigOffer read(DataPlaneConfig.Source source) {
    return switch (source) {
      case DataPlaneConfig.Folder folder -> read(Sources.folder(folder));
      case DataPlaneConfig.Files files -> read(Sources.files(files));
      case ClusterPool pool -> {
        try (KubernetesClient client = pool.client().get()) {
          yield read(Sources.pool(pool, client), client);
        }
      }
      case DataPlaneConfig.Kubernetes kubernetes -> {
        try (KubernetesClient client = kubernetes.client().get()) {
          yield read(
              new ConfigMapSource(
                  client, kubernetes.namespace(), kubernetes.configMap(), ConfigReaders::document),
              client);
        }
      }
    };
  }

  private static ConfigOffer read(ConfigSource source, KubernetesClient client) {
    try {
      return read(source);
    } catch (KubernetesClientException e) {
      String said = e.getStatus() == null ? null : e.getStatus().getMessage();
      throw new IllegalStateException(
          "the cluster at %s %s; see kubectl cluster-info"
              .formatted(
                  client.getMasterUrl(), said == null ? "does not answer" : "answers: " + said),
          e);
    }
  }

  private static ConfigOffer read(ConfigSource source) {
    try (source) {
      return source.read();
    }
  }

  private static String text(
      DataPlaneConfig config, ConfigOffer.Document document, List<String> warnings) {
    PoolConfig pool = document.config();
    StringBuilder text = new StringBuilder();
    line(text, "pool", pool.namespace() + "/" + pool.name());
    line(text, "config", document.configHash() + " from " + document.origin());
    for (ModelConfig model : pool.models()) {
      String targets =
          model.targets().stream()
              .map(target -> target.name() + " × " + target.weight())
              .collect(Collectors.joining(", "));
      line(text, "model", model.name() + ", " + model.criticality().wireName() + " → " + targets);
    }
    EndpointSet endpoints = document.endpoints();
    if (endpoints == null) {
      line(text, "endpoints", "pods with " + pool.selector() + ", ports " + pool.targetPorts());
    } else {
      for (EndpointSpec endpoint : endpoints.ready()) {
        line(text, "endpoint", endpoint.name() + " " + endpoint.address() + " " + endpoint.port());
      }
    }
    listen(text, "gateway", config.gateway() == null ? null : config.gateway().listen());
    listen(text, "ext_proc", config.extProc() == null ? null : config.extProc().listen());
    listen(text, "health", config.health());
    listen(text, "metrics", config.admin());
    line(text, "loops", String.valueOf(config.loops()));
    line(text, "capture", config.capture() == null ? "off" : config.capture().toString());
    List<String> scheduler = SchedulerDocument.write(pool.scheduler()).lines().toList();
    text.append("scheduling\n");
    scheduler.forEach(l -> text.append("  ").append(l).append('\n'));
    warnings.forEach(warning -> line(text, "warning", warning));
    return text.toString();
  }

  private static void listen(
      StringBuilder text, String name, DataPlaneConfig.@Nullable Listen listen) {
    line(text, name, listen == null ? "off" : Route.destination(listen.host(), listen.port()));
  }

  private static void line(StringBuilder text, String name, String value) {
    text.append(String.format("%-10s %s%n", name, value));
  }
}
