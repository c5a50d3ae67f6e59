package io.fairlead.operator.reconcile;

import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.util.Set;
import java.util.stream.Collectors;

/** What is said of models that stay in the config while it is not known whether they still are. */
final class UnseenModels {
  /** Models that a message names. */
  private static final int MOST_TOLD = 5;

  private UnseenModels() {}

  /** Why it is not known which models there are, and what becomes of those that are not seen. */
  static Verdict told(Verdict why, Set<String> models) {
    return models.isEmpty()
        ? why
        : why.worded(
            words ->
                "%s. Until then the config keeps the models that were served: %s"
                    .formatted(words, named(models)));
  }

  /** Of models that an InferenceModelRewrite may have, while those can't be read. */
  static Verdict mayBeRewritten(Set<String> models) {
    return Verdict.no(
        Reason.API_SERVER_ERROR,
        "Each of these models stays in the config until it is known whether an InferenceModelRewrite has it, also if it was an InferenceModel's that is deleted: %s"
            .formatted(named(models)));
  }

  private static String named(Set<String> models) {
    String some = models.stream().limit(MOST_TOLD).collect(Collectors.joining(", "));
    return models.size() <= MOST_TOLD
        ? some
        : "%s and %d more".formatted(some, models.size() - MOST_TOLD);
  }
}
