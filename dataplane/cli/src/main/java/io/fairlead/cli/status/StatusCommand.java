package io.fairlead.cli.status;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NamedContext;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.utils.Utils;
import io.fairlead.cli.InputText;
import io.fairlead.cli.ShownText;
import io.fairlead.crds.DnsLabel;
import io.fairlead.crds.document.SourceTree;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.crds.v1alpha2.OldInferencePool;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.HttpURLConnection;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Tells how the pools of a cluster are. */
@Command(
    name = "status",
    description = {
      "How pools are, as the operator says in their statuses: one row a pool, and with -o wide one"
          + " a model and one a picker.",
      "Asks the cluster of the kubeconfig, or reads what kubectl has got:"
          + " kubectl get infpool,infmodel,epp -A -o json | fairlead status -A -.",
      "Linked as kubectl-fairlead into a folder of PATH, this is kubectl fairlead status."
    },
    mixinStandardHelpOptions = true,
    footerHeading = "%nEnvironment:%n",
    footer = "KUBECONFIG: The kubeconfig. Without it ~/.kube/config, or the pod's own cluster.")
public final class StatusCommand implements Callable<Integer> {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final List<ResourceDefinitionContext> KINDS =
      List.of(
          kind(InferencePool.GROUP, InferencePool.VERSION, "InferencePool"),
          kind(OldInferencePool.GROUP, OldInferencePool.VERSION, OldInferencePool.KIND),
          kind(EndpointPicker.GROUP, EndpointPicker.VERSION, "EndpointPicker"),
          kind(InferenceModel.GROUP, InferenceModel.VERSION, "InferenceModel"));

  @Parameters(
      paramLabel = "FILE",
      description = {
        "YAML or JSON in the place of a cluster, of any number of documents and lists; - for"
            + " standard input."
      })
  private List<Path> files = List.of();

  @Option(
      names = {"-n", "--namespace"},
      paramLabel = "NAME",
      description = "Default: that of the kubeconfig; of files, every one.")
  private @Nullable String namespace;

  @Option(
      names = {"-A", "--all-namespaces"},
      description = "Pools of all namespaces, with a column that says which.")
  private boolean all;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "wide",
      description = "wide: models and pickers, too, with messages.")
  private @Nullable String output;

  @Option(names = "--context", paramLabel = "NAME", description = "Context of the kubeconfig.")
  private @Nullable String context;

  /** Kinds that the cluster does not let one list. */
  private final Set<String> refused = new HashSet<>();

  @Spec private CommandSpec spec = CommandSpec.create();

  /** Made by the command line. */
  public StatusCommand() {}

  private static ResourceDefinitionContext kind(String group, String version, String kind) {
    return new ResourceDefinitionContext.Builder()
        .withGroup(group)
        .withVersion(version)
        .withKind(kind)
        .withPlural(kind.toLowerCase(Locale.ROOT) + "s")
        .withNamespaced(true)
        .build();
  }

  @Override
  public Integer call() throws IOException {
    if (output != null && !output.equals("wide")) {
      throw new ParameterException(
          spec.commandLine(), "--output: %s is not known; it can be wide".formatted(output));
    }
    if (namespace != null && !DnsLabel.isOne(namespace)) {
      throw new ParameterException(
          spec.commandLine(), "--namespace: \"" + namespace + "\" is no name of one");
    }
    if (all && namespace != null) {
      throw new ParameterException(
          spec.commandLine(), "--namespace and --all-namespaces exclude each other");
    }
    List<JsonNode> objects = files.isEmpty() ? ofCluster() : ofFiles();
    StatusTables tables = new StatusTables(objects, all, !refused.contains("InferenceModel"));
    PrintWriter out = spec.commandLine().getOut();
    tables.pools().forEach(out::println);
    if (output != null) {
      for (List<String> table : List.of(tables.models(), tables.pickers())) {
        if (!table.isEmpty()) {
          out.println();
          table.forEach(out::println);
        }
      }
    }
    out.flush();
    return 0;
  }

  private List<JsonNode> ofCluster() throws IOException {
    Config config = config();
    // Somebody waits for an answer, and can ask again.
    config.setRequestRetryBackoffLimit(1);
    List<JsonNode> objects = new ArrayList<>();
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build()) {
      for (ResourceDefinitionContext kind : KINDS) {
        objects.addAll(list(client, kind));
      }
    }
    return objects;
  }

  private Config config() throws IOException {
    Config config;
    try {
      config = Config.autoConfigure(context);
    } catch (RuntimeException e) {
      // The YAML reader's own, with the text that it was given.
      String said = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
      throw new IOException("the kubeconfig can't be read: " + said, e);
    }
    List<String> contexts = config.getContexts().stream().map(NamedContext::getName).toList();
    if (context != null && !contexts.contains(context)) {
      // Or the client would go on with the current one, and tell of another cluster.
      throw new IOException(
          "--context: %s is not in the kubeconfig, which has %s"
              .formatted(context, contexts.isEmpty() ? "none" : String.join(", ", contexts)));
    }
    if (contexts.isEmpty()
        && Utils.getSystemPropertyOrEnvVar(Config.KUBERNETES_MASTER_SYSTEM_PROPERTY) == null
        && System.getenv(Config.KUBERNETES_SERVICE_HOST_PROPERTY) == null) {
      throw new IOException(
          "no kubeconfig leads to a cluster: set KUBECONFIG to one, or give a FILE");
    }
    return config;
  }

  private List<JsonNode> list(KubernetesClient client, ResourceDefinitionContext kind)
      throws IOException {
    // Without it nothing can be told; what is said of the others is left out.
    boolean needed = kind.getGroup().equals(InferencePool.GROUP);
    var resources = client.genericKubernetesResources(kind);
    try {
      // Where few clusters have a kind, few people have the right to it, and miss nothing.
      if (kind.getGroup().equals(OldInferencePool.GROUP)
          && !client.supports(kind.getGroup() + "/" + kind.getVersion(), kind.getKind())) {
        return List.of();
      }
      String own = namespace == null ? client.getNamespace() : namespace;
      List<GenericKubernetesResource> items =
          (all ? resources.inAnyNamespace() : resources.inNamespace(own == null ? "default" : own))
              .list()
              .getItems();
      return items.stream().<JsonNode>map(JSON::valueToTree).toList();
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        return List.of();
      }
      if (e.getCode() == HttpURLConnection.HTTP_FORBIDDEN) {
        String said =
            kind.getKind()
                + "s may not be listed: "
                + (e.getStatus() == null ? e.getMessage() : e.getStatus().getMessage());
        if (needed) {
          throw new IOException(
              said + "; the ClusterRole fairlead-view, or view, has the right to", e);
        }
        refused.add(kind.getKind());
        PrintWriter err = spec.commandLine().getErr();
        err.println(ShownText.line("left out: " + said));
        err.flush();
        return List.of();
      }
      String said =
          e.getCode() > 0 ? "answers: " + e.getMessage() : "does not answer" + reason(e.getCause());
      throw new IOException(
          "the cluster at %s %s; see kubectl cluster-info".formatted(client.getMasterUrl(), said),
          e);
    }
  }

  /** The client's own message says which request it was, its causes may say why. */
  private static String reason(@Nullable Throwable cause) {
    String reason = "";
    for (Throwable one = cause; one != null; one = one.getCause()) {
      reason = one.getMessage() == null ? reason : ": " + one.getMessage();
    }
    return reason;
  }

  private List<JsonNode> ofFiles() throws IOException {
    List<JsonNode> objects = new ArrayList<>();
    for (Path file : files) {
      for (SourceTree tree : SourceTree.parseWhole(InputText.name(file), InputText.read(file))) {
        if (!tree.errors().isEmpty()) {
          throw new IOException(tree.errors().getFirst().toString());
        }
        add(tree.root(), objects);
      }
    }
    objects.removeIf(
        object ->
            namespace != null
                && !object.path("metadata").path("namespace").asText().equals(namespace));
    return objects;
  }

  private static void add(JsonNode object, List<JsonNode> objects) {
    if (object.path("items").isArray()) {
      object.path("items").forEach(item -> add(item, objects));
    } else {
      objects.add(object);
    }
  }
}
