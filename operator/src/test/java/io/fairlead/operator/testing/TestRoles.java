package io.fairlead.operator.testing;

import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import java.util.List;

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
    put(cluster, all.stream().filter(rule -> !rule.getResources().contains(resource)).toList());
    return () -> put(cluster, all);
  }

  /** Takes one verb on a resource, and on whatever else is in the same rules. */
  public static Taken withoutVerb(Installed cluster, String resource, String verb) {
    List<PolicyRule> all =
        cluster.admin().rbac().clusterRoles().withName(OPERATOR).require().getRules();
    put(
        cluster,
        all.stream()
            .map(
                rule ->
                    rule.getResources().contains(resource)
                        ? new PolicyRuleBuilder(rule)
                            .withVerbs(
                                rule.getVerbs().stream().filter(one -> !one.equals(verb)).toList())
                            .build()
                        : rule)
            .toList());
    return () -> put(cluster, all);
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
