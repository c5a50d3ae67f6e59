package io.fairlead.core.scheduling;

import java.util.List;

/** The profiles of a scheduler, with the names of their plugins, for people. */
public record SchedulerOutline(List<ProfileOutline> profiles) {

  public SchedulerOutline {
    profiles = List.copyOf(profiles);
  }

  /**
   * A profile.
   *
   * @param filters names, in order
   * @param keeps by filter, which endpoints it keeps, see {@link io.fairlead.plugin.Filter#keeps()}
   * @param scorers in order
   * @param picker name
   */
  public record ProfileOutline(
      String name,
      List<String> filters,
      List<String> keeps,
      List<WeightedScorer> scorers,
      String picker) {
    public ProfileOutline {
      filters = List.copyOf(filters);
      keeps = List.copyOf(keeps);
      scorers = List.copyOf(scorers);
    }
  }

  /**
   * A scorer of a profile.
   *
   * @param name of the plugin
   * @param weight factor on its scores
   */
  public record WeightedScorer(String name, double weight) {}
}
