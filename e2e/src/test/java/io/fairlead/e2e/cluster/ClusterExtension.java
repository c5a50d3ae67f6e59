package io.fairlead.e2e.cluster;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives tests a parameter of type {@link Cluster}: one cluster for all test classes of a run, from
 * {@link ClusterSource#chosen()}, opened when first asked for and closed after the last class. A
 * cluster that can't be had fails the tests.
 */
public final class ClusterExtension implements ParameterResolver {

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Cluster.class;
  }

  @Override
  public Cluster resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return context
        .getRoot()
        .getStore(Namespace.create(ClusterExtension.class))
        .computeIfAbsent(Cluster.class, key -> open(), Cluster.class);
  }

  private static Cluster open() {
    Cluster cluster = ClusterSource.chosen().open();
    System.out.println("cluster: " + cluster.name());
    return cluster;
  }
}
