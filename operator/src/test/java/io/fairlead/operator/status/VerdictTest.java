package io.fairlead.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class VerdictTest {
  private static final Verdict SERVICE =
      Verdict.no(Reason.EPP_UNAVAILABLE, "the Service is refused");
  private static final Verdict MAP =
      Verdict.no(Reason.PERMISSION_DENIED, "the ConfigMap is refused");

  /** As Ready joins what ResolvedRefs and Programmed say. */
  @Test
  void whatSeveralSayIsSaidOnce() {
    Verdict programmed = Verdict.all(List.of(MAP, SERVICE));
    Verdict ready = Verdict.all(List.of(SERVICE, programmed));
    assertThat(ready.reason()).isEqualTo(Reason.EPP_UNAVAILABLE);
    assertThat(ready.message()).isEqualTo("the ConfigMap is refused. the Service is refused");
  }
}
