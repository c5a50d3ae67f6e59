package io.fairlead.crds.testing;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Our CRDs on a test's API server. */
public final class Crds {
  private static final List<String> FILES =
      List.of("inferencepools", "inferencemodels", "endpointpickers");

  private Crds() {}

  /** Applies the shipped CRDs and waits until they are served; doing it again changes nothing. */
  public static List<CustomResourceDefinition> apply(KubernetesClient client) {
    return apply(client, FILES.stream().map(file -> "/io/fairlead/crds/manifests/" + file), "");
  }

  /**
   * Applies InferenceObjective and InferenceModelRewrite, which are upstream's.
   *
   * @param group one of the two that have them
   */
  public static List<CustomResourceDefinition> upstream(KubernetesClient client, String group) {
    return apply(client, Stream.of("upstream/objectives", "upstream/rewrites"), group);
  }

  /** Applies InferencePool in the group that it was in before it was settled. */
  public static void oldPools(KubernetesClient client) {
    apply(client, Stream.of("upstream/old-pools"), "");
  }

  /** Applies the Prometheus operator's PodMonitor. */
  public static void podMonitors(KubernetesClient client) {
    apply(client, Stream.of("upstream/podmonitors"), "");
  }

  private static List<CustomResourceDefinition> apply(
      KubernetesClient client, Stream<String> files, String group) {
    PatchContext serverSide =
        new PatchContext.Builder()
            .withPatchType(PatchType.SERVER_SIDE_APPLY)
            .withFieldManager("test")
            .withForce(true)
            .build();
    return files
        .map(file -> load(client, file, group))
        .map(crd -> client.resource(crd).patch(serverSide))
        .map(crd -> awaitServed(client, crd))
        .toList();
  }

  /**
   * Waits until a kind that was applied can be used. The API server says that it is established,
   * and a moment later answers requests for it and lists it among its kinds, by which clients find
   * those that they have no class for.
   */
  public static CustomResourceDefinition awaitServed(
      KubernetesClient client, CustomResourceDefinition applied) {
    CustomResourceDefinition crd =
        client.resource(applied).waitUntilCondition(Crds::isEstablished, 60, TimeUnit.SECONDS);
    String group = crd.getSpec().getGroup();
    String plural = crd.getSpec().getNames().getPlural();
    for (CustomResourceDefinitionVersion version : crd.getSpec().getVersions()) {
      String apiVersion = group + "/" + version.getName();
      await()
          .atMost(Duration.ofSeconds(60))
          .pollDelay(Duration.ZERO)
          .until(
              () ->
                  client.supports(apiVersion, crd.getSpec().getNames().getKind())
                      && client.raw("/apis/" + apiVersion + "/" + plural + "?limit=1") != null);
    }
    return crd;
  }

  private static CustomResourceDefinition load(KubernetesClient client, String file, String group) {
    try (InputStream in =
        Objects.requireNonNull(Crds.class.getResourceAsStream(file + ".yaml"), file)) {
      String yaml = new String(in.readAllBytes(), StandardCharsets.UTF_8).replace("GROUP", group);
      return client.getKubernetesSerialization().unmarshal(yaml, CustomResourceDefinition.class);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isEstablished(CustomResourceDefinition crd) {
    return crd != null
        && crd.getStatus() != null
        && crd.getStatus().getConditions() != null
        && crd.getStatus().getConditions().stream()
            .anyMatch(c -> c.getType().equals("Established") && c.getStatus().equals("True"));
  }
}
