package io.fairlead.epp.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.report.PickerReport;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LeaseReporterTest {

  /** First comes what somebody has to mend. */
  @Test
  void ofVeryManyTargetsAsManyAreToldAsThereIsRoomFor() {
    List<String> names = IntStream.range(0, 10_000).mapToObj("target-%05d"::formatted).toList();
    PickerReport all =
        new PickerReport(
            null,
            null,
            1,
            null,
            new PickerReport.Endpoints(1, 1, null),
            null,
            List.of(),
            List.of(),
            new PickerReport.Targets(names, names, List.of(new PickerReport.NotServed("z", 3))));
    String text = ReportText.of(all);
    assertThat(text).hasSizeLessThan(ReportText.LONGEST);
    PickerReport.Targets told =
        Objects.requireNonNull(PickerReport.fromJson(text).orElseThrow().targets());
    assertThat(told.notServed()).containsExactly(new PickerReport.NotServed("z", 3));
    assertThat(told.served())
        .hasSizeGreaterThan(1_000)
        .isEqualTo(names.subList(0, told.served().size()));
    assertThat(told.servedEarlier()).isEmpty();
  }

  /** Else the operator would call a picker silent whose Lease was deleted. */
  @Test
  void aReportIsWrittenAgainBeforeItIsMissed() {
    Duration latest = LeaseReporter.REPEAT.plus(LeaseReporter.REPEAT.dividedBy(4));
    assertThat(latest.plusSeconds(5)).isLessThan(PickerReport.REPEATED_WITHIN);
    assertThat(LeaseReporter.RENEW.plus(latest).plusSeconds(5))
        .isLessThan(PickerReport.RENEWED_WITHIN);
  }
}
