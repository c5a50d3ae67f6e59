package io.fairlead.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fairlead.operator.status.Verdict;

/**
 * A child that could not be brought to its desired state.
 *
 * @param why as the pool's Programmed condition
 * @param outlook what is to be expected of the next try
 */
public record ChildFailure(HasMetadata child, Verdict why, Outlook outlook) {
  static ChildFailure lasting(HasMetadata child, Verdict why) {
    return new ChildFailure(child, why, Outlook.LASTS);
  }

  /** What is to be expected of the next try to apply what could not be. */
  public enum Outlook {
    /** It fails until somebody does something about it. */
    LASTS,

    /**
     * It is what usually passes by itself, such as that another wrote at the same time; but an
     * admission webhook may say the same for ever.
     */
    MAY_PASS,

    /** It took long to fail, as where a webhook hangs. */
    SLOW,

    /** It was not tried, since many others are written just now: there is room in a moment. */
    COMES
  }
}
