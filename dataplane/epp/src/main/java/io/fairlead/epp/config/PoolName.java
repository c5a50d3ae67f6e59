package io.fairlead.epp.config;

import io.fairlead.crds.v1.InferencePool;

/**
 * An InferencePool by its name.
 *
 * @param group its API group
 */
record PoolName(String namespace, String name, String group) {

  /** The group in which the kind was before it was settled. */
  static final String OLD_GROUP = "inference.networking.x-k8s.io";

  /** Whether it is of the kind's settled form. */
  boolean settled() {
    return group.equals(InferencePool.GROUP);
  }

  @Override
  public String toString() {
    return "InferencePool " + namespace + "/" + name;
  }
}
