package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.testing.Kustomization;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What users may do who have the aggregated roles, as an API server judges it. */
@ExtendWith(KubeApi.class)
class RolesIT {

  @Test
  void viewersReadAndEditorsWriteAllButStatuses(KubernetesClient admin) {
    Kustomization.apply(admin, Kustomization.render("cluster"));
    bind(admin, "fairlead-view", "viewer");
    bind(admin, "fairlead-edit", "editor");

    // Rights take effect a moment after they are granted.
    await().until(() -> may(admin, "viewer", "list", "fairlead.io", "endpointpickers", ""));
    await().until(() -> may(admin, "editor", "create", "fairlead.io", "endpointpickers", ""));
    assertThat(may(admin, "viewer", "patch", "fairlead.io", "endpointpickers", "")).isFalse();
    assertThat(may(admin, "viewer", "watch", "inference.networking.k8s.io", "inferencepools", ""))
        .isTrue();
    assertThat(may(admin, "viewer", "watch", "inference.networking.x-k8s.io", "inferencepools", ""))
        .isTrue();
    assertThat(may(admin, "editor", "patch", "fairlead.io", "endpointpickers", "scale")).isTrue();
    assertThat(may(admin, "editor", "patch", "fairlead.io", "endpointpickers", "status")).isFalse();
    assertThat(
            may(admin, "editor", "delete", "inference.networking.x-k8s.io", "inferencemodels", ""))
        .isTrue();
    for (String group : new String[] {"inference.networking.x-k8s.io", "llm-d.ai"}) {
      for (String kind : new String[] {"inferenceobjectives", "inferencemodelrewrites"}) {
        assertThat(may(admin, "viewer", "watch", group, kind, "")).as(group + kind).isTrue();
        assertThat(may(admin, "viewer", "create", group, kind, "")).as(group + kind).isFalse();
        assertThat(may(admin, "editor", "create", group, kind, "")).as(group + kind).isTrue();
        assertThat(may(admin, "editor", "patch", group, kind, "status")).as(group).isFalse();
      }
    }
  }

  @Test
  void rolesOfKubernetesTakeThemIn(KubernetesClient admin) {
    Kustomization.apply(admin, Kustomization.render("cluster"));
    for (String role : new String[] {"view", "edit"}) {
      ClusterRole ours = admin.rbac().clusterRoles().withName("fairlead-" + role).get();
      assertThat(
              admin
                  .rbac()
                  .clusterRoles()
                  .withName(role)
                  .get()
                  .getAggregationRule()
                  .getClusterRoleSelectors())
          .anySatisfy(
              selector ->
                  assertThat(ours.getMetadata().getLabels())
                      .containsAllEntriesOf(selector.getMatchLabels()));
    }
  }

  @Test
  void oneWordListsWhatIsOurs(KubernetesClient admin) {
    Crds.apply(admin);
    assertThat(admin.getApiResources("fairlead.io/v1alpha1").getResources())
        .filteredOn(resource -> resource.getName().equals("endpointpickers"))
        .singleElement()
        .satisfies(resource -> assertThat(resource.getCategories()).containsExactly("fairlead"));
  }

  private static void bind(KubernetesClient admin, String role, String user) {
    admin
        .resource(
            new RoleBindingBuilder()
                .withNewMetadata()
                .withName(user)
                .withNamespace("default")
                .endMetadata()
                .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", role)
                .addNewSubject("rbac.authorization.k8s.io", "User", user, null)
                .build())
        .serverSideApply();
  }

  private static boolean may(
      KubernetesClient admin,
      String user,
      String verb,
      String group,
      String resource,
      String subresource) {
    return admin
        .resource(
            new SubjectAccessReviewBuilder()
                .withNewSpec()
                .withUser(user)
                .withNewResourceAttributes()
                .withNamespace("default")
                .withVerb(verb)
                .withGroup(group)
                .withResource(resource)
                .withSubresource(subresource)
                .endResourceAttributes()
                .endSpec()
                .build())
        .create()
        .getStatus()
        .getAllowed();
  }
}
