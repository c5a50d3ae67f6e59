package io.fairlead.lab.report;

import io.fairlead.lab.simulator.RunResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Policies beside each other on the same workloads, over seeds.
 *
 * @param reference the policy that ratios are over
 * @param groups in the order in which the runs name them
 */
public record Comparison(String reference, List<Group> groups) {

  public Comparison {
    groups = List.copyOf(groups);
  }

  /**
   * What can be compared: runs of one workload on one pool.
   *
   * @param policies in the order in which the runs name them
   */
  public record Group(String workload, String pool, List<PolicySummary> policies) {

    public Group {
      policies = List.copyOf(policies);
    }

    /** Its name for readers. */
    String title() {
      return pool.isEmpty() ? workload : workload + " on " + pool;
    }

    /** Whether no policy stands out by this measure. */
    boolean alike(Measure measure) {
      return policies.stream()
          .filter(policy -> policy.cell(measure).value().seeds() > 0)
          .allMatch(policy -> policy.cell(measure).standing() != PolicySummary.Standing.OTHER);
    }

    /** The mark of a policy by this measure: the best, a tie with it, or none where all tie. */
    String mark(PolicySummary policy, Measure measure) {
      if (alike(measure)) {
        return "";
      }
      return switch (policy.cell(measure).standing()) {
        case BEST -> "★";
        case TIES_WITH_BEST -> "≈";
        case OTHER -> "";
      };
    }

    /** The measures by which not all policies have the very same value. */
    List<Measure> telling() {
      return Arrays.stream(Measure.values())
          .filter(measure -> !same(measure) && (known(measure) || !measure.ofSome()))
          .toList();
    }

    /** Whether a policy has a value at all. */
    boolean known(Measure measure) {
      return policies.stream().anyMatch(policy -> policy.cell(measure).value().seeds() > 0);
    }

    /** Whether all policies have the very same value by this measure. */
    boolean same(Measure measure) {
      return policies.size() > 1
          && policies.stream().map(policy -> policy.cell(measure).value()).distinct().count() == 1;
    }
  }

  /**
   * Compares every policy with one of them.
   *
   * @throws IllegalArgumentException without runs, when no run is of the reference, or when two are
   *     of the same workload, pool, policy and seed
   */
  public static Comparison of(List<RunResult> runs, String reference) {
    if (runs.stream().noneMatch(run -> run.policy().equals(reference))) {
      throw new IllegalArgumentException(
          "reference policy %s has no run; there are runs of %s"
              .formatted(reference, runs.stream().map(RunResult::policy).distinct().toList()));
    }
    Map<Group, Map<String, NavigableMap<Long, RunResult>>> sorted = sorted(runs);
    List<Group> groups = new ArrayList<>();
    sorted.forEach(
        (group, policies) ->
            groups.add(
                new Group(
                    group.workload(),
                    group.pool(),
                    PolicySummary.all(policies, policies.get(reference)))));
    return new Comparison(reference, groups);
  }

  /** All policies, in the order in which the runs name them. */
  List<String> policies() {
    return groups.stream()
        .flatMap(group -> group.policies().stream())
        .map(PolicySummary::policy)
        .distinct()
        .toList();
  }

  /** Runs by group without policies, then by policy, then by seed. */
  static Map<Group, Map<String, NavigableMap<Long, RunResult>>> sorted(List<RunResult> runs) {
    Map<Group, Map<String, NavigableMap<Long, RunResult>>> sorted = new LinkedHashMap<>();
    for (RunResult run : runs) {
      RunResult before =
          sorted
              .computeIfAbsent(
                  new Group(run.workload(), run.pool(), List.of()), key -> new LinkedHashMap<>())
              .computeIfAbsent(run.policy(), key -> new TreeMap<>())
              .put(run.seed(), run);
      if (before != null) {
        throw new IllegalArgumentException(
            "two runs of workload %s, pool %s, policy %s and seed %d; each may be there once"
                .formatted(run.workload(), run.pool(), run.policy(), run.seed()));
      }
    }
    return sorted;
  }

  /** The main measures as text, a block per group. */
  public List<String> lines() {
    return ComparisonText.lines(this);
  }
}
