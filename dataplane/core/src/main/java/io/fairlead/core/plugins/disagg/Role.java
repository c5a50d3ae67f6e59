package io.fairlead.core.plugins.disagg;

import io.fairlead.plugin.EndpointAttributes;
import java.util.function.Predicate;

/** Stages that an endpoint is there for, as its role label says. */
enum Role {
  /** No label: does everything, but prompts for others only if nobody is labelled. */
  UNLABELLED(0, true, false),
  DECODE(1, true, false),
  PREFILL(2, false, true),
  BOTH(3, true, true),
  /** Another stage, or a role that nobody knows. */
  OTHER(4, false, false);

  private final int partition;
  private final boolean decodes;
  private final boolean prefills;

  Role(int partition, boolean decodes, boolean prefills) {
    this.partition = partition;
    this.decodes = decodes;
    this.prefills = prefills;
  }

  static Role of(EndpointAttributes attributes) {
    return switch (attributes.role()) {
      case "" -> UNLABELLED;
      case "decode" -> DECODE;
      case "prefill", "encode-prefill" -> PREFILL;
      case "prefill-decode", "both", "encode-prefill-decode" -> BOTH;
      default -> OTHER;
    };
  }

  /** The partitions of the roles that meet a condition, one bit each. */
  static long partitions(Predicate<Role> condition) {
    long partitions = 0;
    for (Role role : values()) {
      partitions |= condition.test(role) ? 1L << role.partition : 0;
    }
    return partitions;
  }

  int partition() {
    return partition;
  }

  boolean decodes() {
    return decodes;
  }

  boolean prefills() {
    return prefills;
  }
}
