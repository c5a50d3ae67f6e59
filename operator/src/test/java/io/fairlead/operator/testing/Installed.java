package io.fairlead.operator.testing;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBindingBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.reconcile.Settings;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/**
 * An API server on which our CRDs and roles are installed. It has no controller manager: the test
 * plays that part.
 */
public final class Installed {
  /** Where the operator's own ServiceAccount and Lease are. */
  public static final String NAMESPACE = "fairlead-system";

  /** The user that the operator is to the API server. */
  public static final String OPERATOR = "system:serviceaccount:" + NAMESPACE + ":fairlead-operator";

  private static final Path CONFIG = Path.of("..", "config");
  private static final List<String> FILES =
      List.of(
          "operator/namespace.yaml",
          "cluster/epp-clusterrole.yaml",
          "rbac/operator-clusterrole.yaml",
          "rbac/operator-leaderelection.yaml");

  private final KubeApi.Running server;

  private Installed(KubeApi.Running server) {
    this.server = server;
  }

  /** Installs what is missing; doing it again changes nothing. */
  public static Installed on(KubeApi.Running server) {
    Crds.apply(server.client());
    FILES.forEach(file -> apply(server.client(), CONFIG.resolve(file)));
    return new Installed(server);
  }

  /** May do everything. */
  public KubernetesClient admin() {
    return server.client();
  }

  /** What the API server was asked. */
  public AuditLog audit() {
    return server.audit();
  }

  /** May do what the operator's ServiceAccount may; the caller closes it. */
  public KubernetesClient operator() {
    return as(NAMESPACE, "fairlead-operator");
  }

  /**
   * May do what the operator's ServiceAccount may; the caller closes it.
   *
   * @param onWrite told of every request that is no reading just before it is sent, as {@code
   *     METHOD path}
   */
  public KubernetesClient operator(Consumer<String> onWrite) {
    return new KubernetesClientBuilder()
        .withConfig(account(NAMESPACE, "fairlead-operator"))
        .withHttpClientBuilderConsumer(
            http -> http.addOrReplaceInterceptor("writes", new Writes(onWrite)))
        .build();
  }

  /** May do what this ServiceAccount may. */
  public Config account(String namespace, String name) {
    Config config = Config.fromKubeconfig(server.kubeConfig());
    config.setImpersonateUsername("system:serviceaccount:" + namespace + ":" + name);
    config.setRequestRetryBackoffLimit(Settings.REQUEST_RETRIES);
    config.setImpersonateGroups(
        "system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated");
    return config;
  }

  /** May do what this ServiceAccount may; the caller closes it. */
  public KubernetesClient as(String namespace, String name) {
    return new KubernetesClientBuilder().withConfig(account(namespace, name)).build();
  }

  private record Writes(Consumer<String> told) implements Interceptor {
    @Override
    public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
      if (!request.method().equals("GET")) {
        told.accept(request.method() + " " + request.uri().getPath());
      }
    }
  }

  /** A fresh namespace. */
  public String namespace(String prefix) {
    return admin()
        .resource(
            new NamespaceBuilder()
                .withNewMetadata()
                .withGenerateName(prefix + "-")
                .endMetadata()
                .build())
        .create()
        .getMetadata()
        .getName();
  }

  /**
   * Has the API server refuse what the operator asks of a kind in a namespace, as policies of
   * clusters do; it may take effect a moment later.
   *
   * @param operation {@code UPDATE} and the like
   * @param group of the API
   * @param resource plural, with its subresource
   * @return what is to be deleted, in this order, to let it through again
   */
  public List<HasMetadata> refuse(
      String namespace, String operation, String group, String resource) {
    String name = namespace + "." + resource.replace('/', '.') + ".example.test";
    HasMetadata policy =
        new ValidatingAdmissionPolicyBuilder()
            .withNewMetadata()
            .withName(name)
            .endMetadata()
            .withNewSpec()
            .withNewMatchConstraints()
            .addNewResourceRule()
            .withApiGroups(group)
            .withApiVersions("*")
            .withOperations(operation)
            .withResources(resource)
            .endResourceRule()
            .withNewNamespaceSelector()
            .addToMatchLabels("kubernetes.io/metadata.name", namespace)
            .endNamespaceSelector()
            .endMatchConstraints()
            .addNewValidation()
            .withExpression("request.userInfo.username != '%s'".formatted(OPERATOR))
            .endValidation()
            .endSpec()
            .build();
    HasMetadata binding =
        new ValidatingAdmissionPolicyBindingBuilder()
            .withNewMetadata()
            .withName(name)
            .endMetadata()
            .withNewSpec()
            .withPolicyName(name)
            .withValidationActions("Deny")
            .endSpec()
            .build();
    admin().resource(policy).create();
    admin().resource(binding).create();
    return List.of(binding, policy);
  }

  /**
   * Waits until the API server refuses this request of the operator: what {@link #refuse} asks for
   * takes effect some time later.
   *
   * @param request that changes nothing, a dry run
   */
  public void awaitRefused(Consumer<KubernetesClient> request) {
    try (KubernetesClient operator = operator()) {
      await()
          .atMost(Duration.ofMinutes(1))
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> request.accept(operator))
                      .isInstanceOf(KubernetesClientException.class));
    }
  }

  /** Lets the operator have a Lease in this namespace, too. */
  public void letLead(String namespace) {
    Path file = CONFIG.resolve("rbac/operator-leaderelection.yaml");
    try (InputStream in = Files.newInputStream(file)) {
      for (HasMetadata object : admin().load(in).items()) {
        object.getMetadata().setNamespace(namespace);
        admin().resource(object).serverSideApply();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void apply(KubernetesClient client, Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      client.load(in).serverSideApply();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
