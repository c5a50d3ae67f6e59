package io.fairlead.epp.tls;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class SelfSignedCertificateTest {

  @Test
  void isSignedByItsKeyAndGoodForTenYears() throws Exception {
    Instant now = Instant.parse("2026-03-04T05:06:07Z");
    SelfSignedCertificate made =
        SelfSignedCertificate.create("picker", () -> now, new SecureRandom());

    made.certificate().verify(made.certificate().getPublicKey());
    assertThat(made.certificate().getSubjectX500Principal().getName()).isEqualTo("CN=picker");
    assertThat(made.certificate().getSubjectAlternativeNames())
        .containsExactly(List.of(2, "picker"));
    assertThat(made.certificate().getNotBefore().toInstant())
        .isEqualTo(now.minus(Duration.ofDays(1)));
    assertThat(made.certificate().getNotAfter().toInstant())
        .isEqualTo(now.plus(Duration.ofDays(3650)));
  }
}
