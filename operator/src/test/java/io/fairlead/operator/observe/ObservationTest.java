package io.fairlead.operator.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.children.Labels;
import java.util.List;
import org.junit.jupiter.api.Test;

class ObservationTest {
  /** It has labels and owner of the one that it was copied from, and is somebody's all the same. */
  @Test
  void aCopyOfAnObjectOfOursIsNotOurs() {
    InferencePool pool = new InferencePool();
    pool.setMetadata(
        new ObjectMetaBuilder().withName("pool").withNamespace("ns").withUid("uid").build());
    Service made = service("picker", Ownership.FIELD_MANAGER, "Apply");
    Service copied = service("copied", "kubectl-create", "Update");
    Service appliedByThem = service("applied", "kubectl", "Apply");
    Observation seen =
        ObservationBuilder.of(pool).children(List.of(made, copied, appliedByThem)).build();
    assertThat(seen.own()).containsExactly(made);
    assertThat(seen.child(Service.class, "copied")).hasValue(copied);
  }

  private static Service service(String name, String manager, String operation) {
    return new ServiceBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("ns")
        .withLabels(Labels.all("pool-epp"))
        .addNewOwnerReference()
        .withApiVersion(HasMetadata.getApiVersion(InferencePool.class))
        .withKind("InferencePool")
        .withName("pool")
        .withUid("uid")
        .withController(true)
        .endOwnerReference()
        .addNewManagedField()
        .withManager(manager)
        .withOperation(operation)
        .endManagedField()
        .endMetadata()
        .build();
  }
}
