package io.fairlead.operator;

import io.fairlead.operator.reconcile.Settings;
import java.time.Duration;
import java.util.function.Consumer;

/** The pace that installs run at, but for what a test sets. */
final class Paces {
  Duration turns = Settings.Pace.USUAL.turns();
  Duration writes = Settings.Pace.USUAL.writes();
  Duration repairs = Settings.Pace.USUAL.repairs();
  Duration answers = Settings.Pace.USUAL.answers();
  Duration reports = Settings.Pace.USUAL.reports();
  Duration silence = Settings.Pace.USUAL.silence();
  Duration saturation = Settings.Pace.USUAL.saturation();
  Duration reloads = Settings.Pace.USUAL.reloads();

  private Paces() {}

  static Settings.Pace usualBut(Consumer<Paces> change) {
    Paces paces = new Paces();
    change.accept(paces);
    return new Settings.Pace(
        paces.turns,
        paces.writes,
        paces.repairs,
        paces.answers,
        paces.reports,
        paces.silence,
        paces.saturation,
        paces.reloads);
  }
}
