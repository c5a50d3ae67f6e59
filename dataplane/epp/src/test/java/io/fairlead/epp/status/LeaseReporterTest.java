package io.fairlead.epp.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.report.PickerReport;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LeaseReporterTest {
  /** Else the operator would call a picker silent whose Lease was deleted. */
  @Test
  void aReportIsWrittenAgainBeforeItIsMissed() {
    Duration latest = LeaseReporter.REPEAT.plus(LeaseReporter.REPEAT.dividedBy(4));
    assertThat(latest.plusSeconds(5)).isLessThan(PickerReport.REPEATED_WITHIN);
    assertThat(LeaseReporter.RENEW.plus(latest).plusSeconds(5))
        .isLessThan(PickerReport.RENEWED_WITHIN);
  }
}
