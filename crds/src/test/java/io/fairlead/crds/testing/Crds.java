package io.fairlead.crds.testing;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.InputStream;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** Our CRDs on a test's API server. */
public final class Crds {
  private static final List<String> FILES =
      List.of("inferencepools", "inferencemodels", "endpointpickers");

  private Crds() {}

  /** Applies the shipped CRDs and waits until they are served; doing it again changes nothing. */
  public static List<CustomResourceDefinition> apply(KubernetesClient client) {
    PatchContext serverSide =
        new PatchContext.Builder()
            .withPatchType(PatchType.SERVER_SIDE_APPLY)
            .withFieldManager("test")
            .withForce(true)
            .build();
    return FILES.stream()
        .map(file -> load(client, file))
        .map(crd -> client.resource(crd).patch(serverSide))
        .map(
            crd ->
                client.resource(crd).waitUntilCondition(Crds::isEstablished, 60, TimeUnit.SECONDS))
        .toList();
  }

  private static CustomResourceDefinition load(KubernetesClient client, String file) {
    InputStream yaml =
        Objects.requireNonNull(
            Crds.class.getResourceAsStream("/io/fairlead/crds/manifests/" + file + ".yaml"));
    return client.getKubernetesSerialization().unmarshal(yaml, CustomResourceDefinition.class);
  }

  private static boolean isEstablished(CustomResourceDefinition crd) {
    return crd != null
        && crd.getStatus() != null
        && crd.getStatus().getConditions() != null
        && crd.getStatus().getConditions().stream()
            .anyMatch(c -> c.getType().equals("Established") && c.getStatus().equals("True"));
  }
}
