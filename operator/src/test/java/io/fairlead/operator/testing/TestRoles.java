package io.fairlead.operator.testing;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributes;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributesBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import java.util.List;
import java.util.stream.Stream;

/** Takes rights from the operator, as who installs it may. */
public final class TestRoles {
  private static final String OPERATOR = "fairlead-operator";

  private TestRoles() {}

  /** What was taken, until it is given back or closed. */
  public interface Taken extends AutoCloseable {
    void giveBack();

    @Override
    default void close() {
      giveBack();
    }
  }

  /** Takes all rights on a resource. */
  public static Taken without(Installed cluster, String resource) {
    List<PolicyRule> all =
        cluster.admin().rbac().clusterRoles().withName(OPERATOR).require().getRules();
    List<PolicyRule> taken =
        all.stream().filter(rule -> rule.getResources().contains(resource)).toList();
    return take(
        cluster,
        all,
        all.stream().filter(rule -> !taken.contains(rule)).toList(),
        taken.stream().flatMap(rule -> asked(rule, resource, rule.getVerbs())).toList());
  }

  /** Takes one verb on a resource, and on whatever else is in the same rules. */
  public static Taken withoutVerb(Installed cluster, String resource, String verb) {
    List<PolicyRule> all =
        cluster.admin().rbac().clusterRoles().withName(OPERATOR).require().getRules();
    return take(
        cluster,
        all,
        all.stream()
            .map(
                rule ->
                    rule.getResources().contains(resource)
                        ? new PolicyRuleBuilder(rule)
                            .withVerbs(
                                rule.getVerbs().stream().filter(one -> !one.equals(verb)).toList())
                            .build()
                        : rule)
            .toList(),
        all.stream()
            .filter(rule -> rule.getResources().contains(resource))
            .filter(rule -> rule.getVerbs().contains(verb))
            .flatMap(rule -> asked(rule, resource, List.of(verb)))
            .toList());
  }

  private static Taken take(
      Installed cluster,
      List<PolicyRule> all,
      List<PolicyRule> left,
      List<ResourceAttributes> taken) {
    put(cluster, left);
    awaitAllowed(cluster, taken, false);
    return () -> {
      put(cluster, all);
      awaitAllowed(cluster, taken, true);
    };
  }

  private static Stream<ResourceAttributes> asked(
      PolicyRule rule, String resource, List<String> verbs) {
    return rule.getApiGroups().stream()
        .flatMap(
            group ->
                verbs.stream()
                    .map(
                        verb ->
                            new ResourceAttributesBuilder()
                                .withGroup(group)
                                .withResource(resource)
                                .withName(rule.getResourceNames().stream().findFirst().orElse(null))
                                .withVerb(verb)
                                .build()));
  }

  /** The API server goes by its roles some time after they are stored. */
  private static void awaitAllowed(
      Installed cluster, List<ResourceAttributes> asked, boolean allowed) {
    await().until(() -> asked.stream().allMatch(one -> isAllowed(cluster, one) == allowed));
  }

  private static boolean isAllowed(Installed cluster, ResourceAttributes asked) {
    return cluster
        .admin()
        .resource(
            new SubjectAccessReviewBuilder()
                .withNewSpec()
                .withUser(Installed.OPERATOR)
                .withResourceAttributes(asked)
                .endSpec()
                .build())
        .create()
        .getStatus()
        .getAllowed();
  }

  private static void put(Installed cluster, List<PolicyRule> rules) {
    cluster
        .admin()
        .resource(
            new ClusterRoleBuilder(
                    cluster.admin().rbac().clusterRoles().withName(OPERATOR).require())
                .withRules(rules)
                .build())
        .update();
  }
}
