package io.fairlead.operator.reconcile;

import io.fairlead.crds.report.PickerReport;
import io.fairlead.operator.children.PickerImage;
import io.fairlead.operator.observe.Adoption;
import java.time.Duration;

/**
 * What the operator was started with.
 *
 * @param adoption which pools are served without being claimed
 * @param grace how long such a pool is left to others at first: installs apply a pool and its
 *     Service one after the other
 * @param eppImage of pickers that name none
 * @param maxRollouts how many pickers may be replaced at a time where an upgrade would replace all
 * @param pace how soon is looked again at what nothing tells of, and how long is waited for it
 */
public record Settings(
    Adoption adoption, Duration grace, PickerImage eppImage, int maxRollouts, Pace pace) {
  /**
   * How often the client asks again, a tenth of a second later and twice as long each time, where
   * the API server answers that it fails or is overloaded. The client's own number would keep a
   * pool for a minute and a half from being told; whoever reconciles tries again anyway.
   */
  public static final int REQUEST_RETRIES = 2;

  /**
   * The oldest Kubernetes that takes what is installed and what is made for pools: before it the
   * kinds' selectableFields are unknown, and pods may not sleep before they end. The charts and
   * docs/install.md say the same.
   */
  public static final String OLDEST_KUBERNETES = "1.30";

  /** Usual number of {@link #maxRollouts}. */
  public static final int USUAL_ROLLOUTS = 5;

  /**
   * How soon is looked again at what nothing tells of, and how long is waited for it.
   *
   * @param turns whether it is a pool's turn to be rolled out
   * @param writes for the API server to answer a write of a picker's object: it waits itself for
   *     admission webhooks, for half a minute at most, and tells which of them failed then
   * @param repairs to put an object of a picker's back that somebody undoes again and again
   * @param answers to ask again what admission makes of a Deployment of which it has made another
   *     thing: a policy may have been mended
   * @param reports for a ready pod to report the config, before it is told that it doesn't
   * @param silence for a pod to renew its report, before that counts no more
   * @param saturation for a pool to be full, or to have room again, before each of its models says
   *     so
   * @param reloads for pickers to read another config, before their pool is told to wait for them
   */
  public record Pace(
      Duration turns,
      Duration writes,
      Duration repairs,
      Duration answers,
      Duration reports,
      Duration silence,
      Duration saturation,
      Duration reloads) {
    /** The one that installs run at. */
    public static final Pace USUAL =
        new Pace(
            Duration.ofSeconds(5),
            Duration.ofSeconds(35),
            Duration.ofMinutes(1),
            Duration.ofMinutes(5),
            PickerReport.REPEATED_WITHIN,
            PickerReport.RENEWED_WITHIN.multipliedBy(3),
            Duration.ofMinutes(1),
            Duration.ofMillis(500));
  }

  public Settings {
    if (maxRollouts < 1) {
      throw new IllegalArgumentException("--max-rollouts is " + maxRollouts + "; set 1 or more");
    }
  }

  /** At the usual pace. */
  public Settings(Adoption adoption, Duration grace, PickerImage eppImage, int maxRollouts) {
    this(adoption, grace, eppImage, maxRollouts, Pace.USUAL);
  }

  /** With the usual number of rollouts, too. */
  public Settings(Adoption adoption, Duration grace, PickerImage eppImage) {
    this(adoption, grace, eppImage, USUAL_ROLLOUTS);
  }
}
