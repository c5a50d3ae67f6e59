package io.fairlead.operator.children;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPickerSpec;
import io.fairlead.crds.fairlead.v1alpha1.Frontend;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class BuiltChildrenTest {
  private final BuiltChildren built = new BuiltChildren();

  @Test
  void areTheChildrenInTheirOrder() {
    for (String document : new @Nullable String[] {"models: []\n", null, "models: [{}]\n"}) {
      assertThat(built.of(design("uid", "image", document)))
          .isEqualTo(Children.of(design("uid", "image", document)));
    }
    assertThat(built.of(design("uid", "image", "x")).stream().map(HasMetadata::getKind))
        .containsExactly("ServiceAccount", "RoleBinding", "ConfigMap", "Service", "Deployment");
  }

  @Test
  void whatADocumentDoesNotChangeIsBuiltOnce() {
    List<HasMetadata> before = built.of(design("uid", "image", "models: []\n"));
    List<HasMetadata> after = built.of(design("uid", "image", "models: [{}]\n"));
    assertThat(after).hasSameSizeAs(before);
    for (int i = 0; i < before.size(); i++) {
      if (before.get(i) instanceof ConfigMap) {
        assertThat(after.get(i)).isNotEqualTo(before.get(i));
      } else {
        assertThat(after.get(i)).isSameAs(before.get(i));
      }
    }
  }

  @Test
  void anotherDesignOrPoolHasOthers() {
    List<HasMetadata> before = built.of(design("uid", "image", null));
    assertThat(built.of(design("uid", "other", null))).isNotEqualTo(before);
    assertThat(built.of(design("other", "image", null))).isNotEqualTo(before);
    HasMetadata back = built.of(design("uid", "image", null)).getFirst();
    built.forget("uid");
    assertThat(built.of(design("uid", "image", null)).getFirst()).isEqualTo(back).isNotSameAs(back);
  }

  private static PickerDesign design(String uid, String image, @Nullable String document) {
    return new PickerDesign(
        "ns",
        "pool",
        "inference.networking.k8s.io/v1",
        uid,
        "svc",
        9002,
        document,
        document == null ? null : ConfigHash.of(document),
        null,
        Frontend.EXT_PROC,
        image,
        EndpointPickerSpec.DEFAULT,
        List.of());
  }
}
