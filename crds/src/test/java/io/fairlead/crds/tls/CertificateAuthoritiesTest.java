package io.fairlead.crds.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.crds.testing.Pem;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What pickers trust is found in a file as tools write it, and nothing else is taken for it. */
class CertificateAuthoritiesTest {
  private static final String BROKEN =
      """
      -----BEGIN CERTIFICATE-----
      AAAA
      -----END CERTIFICATE-----
      """;

  @Test
  void allOfAFileAreRead() throws GeneralSecurityException {
    String text =
        "# the first\r\n"
            + Pem.text("good.crt").replace("\n", "\r\n")
            + "and one more\n"
            + Pem.text("expired.crt")
                .replace("BEGIN CERTIFICATE", "BEGIN X509 CERTIFICATE")
                .replace("END CERTIFICATE", "END X509 CERTIFICATE");
    assertThat(read(text)).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "-----BEGIN CERTIFICATE-----\n", "-----BEGIN KEY-----\nAAAA\n"})
  void noneIsToldAsNone(String text) {
    assertThatThrownBy(() -> read(text)).hasMessage("it has no certificate");
  }

  @Test
  void aKeyIsNone() {
    assertThatThrownBy(() -> read(Pem.text("good.key")))
        .hasMessage("it has a private key and no certificate");
  }

  @Test
  void oneThatIsBrokenIsNotPassedOver() {
    assertThatThrownBy(() -> read(Pem.text("good.crt") + BROKEN))
        .isInstanceOf(GeneralSecurityException.class);
    assertThatThrownBy(() -> read(BROKEN.replace("AAAA", "A=A")))
        .isInstanceOf(GeneralSecurityException.class)
        .hasMessage("certificate 1 is not in Base64");
  }

  private static List<?> read(String text) throws GeneralSecurityException {
    return CertificateAuthorities.read(text.getBytes(StandardCharsets.UTF_8));
  }
}
