package io.fairlead.crds.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.crds.testing.Pem;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CertificatePairTest {

  private static CertificatePair read(String certificate, String key)
      throws GeneralSecurityException {
    return CertificatePair.read(
        certificate.getBytes(StandardCharsets.UTF_8), key.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void tellsFromWhenToWhenItIsValid() throws GeneralSecurityException {
    CertificatePair pair = read(Pem.text("expired.crt"), Pem.text("expired.key"));
    assertThat(pair.begin()).isEqualTo(Instant.parse("2020-01-01T00:00:00Z"));
    assertThat(pair.end()).isEqualTo(Instant.parse("2021-01-01T00:00:00Z"));
  }

  @Test
  void aChainIsValidWhileAllOfItIs() throws GeneralSecurityException {
    CertificatePair pair =
        read(Pem.text("good.crt") + Pem.text("expired.crt"), Pem.text("good.key"));
    assertThat(pair.chain()).hasSize(2);
    assertThat(pair.begin()).isEqualTo(Instant.parse("2020-01-01T00:00:00Z"));
    assertThat(pair.end()).isEqualTo(Instant.parse("2021-01-01T00:00:00Z"));
  }

  @Test
  void anEmptyFileIsNoCertificate() {
    assertThatThrownBy(() -> read("", Pem.text("good.key")))
        .isInstanceOf(GeneralSecurityException.class)
        .hasMessage("it has no certificate");
  }

  @ParameterizedTest
  @CsvSource({
    "good.crt, other.key, the key is of another certificate",
    "good.crt, good.crt, it has no PEM block of a private key",
  })
  void whatIsNoPairIsRefused(String certificate, String key, String why) {
    assertThatThrownBy(() -> read(Pem.text(certificate), Pem.text(key)))
        .isInstanceOf(GeneralSecurityException.class)
        .hasMessageContaining(why);
  }
}
