package io.fairlead.crds.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.crds.testing.Pem;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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

  @Test
  void anEd25519KeyIsOne() throws GeneralSecurityException {
    CertificatePair pair = read(Pem.text("ed25519.crt"), Pem.text("ed25519.key"));
    assertThat(pair.key().getAlgorithm()).isEqualTo("EdDSA");
    refused(Pem.text("ed25519.crt"), Pem.text("good.key"), "the key is of another certificate");
    refused(Pem.text("good.crt"), Pem.text("ed25519.key"), "the key is of another certificate");
  }

  /** As files come that hold all of a server: the key is no part of what is shown to clients. */
  @Test
  void whatIsNoCertificateInAChainIsPassedOver() throws GeneralSecurityException {
    CertificatePair pair =
        read(
            "a comment\n" + Pem.text("good.key") + Pem.text("good.crt") + "its end\n",
            Pem.text("good.key"));
    assertThat(pair.chain()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({
    "good.crt, other.key, the key is of another certificate",
    "good.crt, good.crt, there is a certificate in place of the private key",
    "good.key, good.key, there is a private key in place of the certificate",
    "good.key, good.crt, certificate and private key are in each other's place",
  })
  void whatIsNoPairIsRefused(String certificate, String key, String why) {
    refused(Pem.text(certificate), Pem.text(key), why);
  }

  /** A signature of another length is no signature at all to the JDK. */
  @ParameterizedTest
  @CsvSource({"rsa.crt, RSA, 1024", "rsa.crt, EC, 256", "good.crt, RSA, 1024", "good.crt, EC, 384"})
  void aKeyOfAnotherKindOrLengthIsOfAnotherCertificate(
      String certificate, String algorithm, int length) throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
    generator.initialize(length);
    String key = pem("PRIVATE KEY", generator.generateKeyPair().getPrivate().getEncoded());
    refused(Pem.text(certificate), key, "the key is of another certificate");
  }

  @Test
  void whoseOwnCertificateIsNotTheFirstIsToldSo() {
    refused(
        Pem.text("expired.crt") + Pem.text("good.crt"),
        Pem.text("good.key"),
        "the key is of certificate 2, and has to be of the first; put that one first");
  }

  @ParameterizedTest
  @ValueSource(strings = {"CERTIFICATE REQUEST", "PUBLIC KEY", "PKCS7"})
  void whatElseIsInPlaceOfTheCertificateIsNamed(String label) {
    refused(
        pem(label, new byte[] {1, 2, 3}),
        Pem.text("good.key"),
        "there is a " + label + " in place of the certificate");
  }

  @Test
  void aDamagedCertificateIsCounted() {
    refused(
        Pem.text("good.crt") + pem("CERTIFICATE", new byte[] {1, 2, 3}),
        Pem.text("good.key"),
        "certificate 2 is damaged");
    refused("no PEM", Pem.text("good.key"), "it has no PEM block of a certificate");
  }

  /** Whoever reads a condition need not be one who may read Secrets. */
  @ParameterizedTest
  @ValueSource(strings = {"\n", " ", "", "\r\n"})
  void nothingOfAKeyThatIsInTheWrongPlaceIsRepeated(String lineEnd) {
    String key = Pem.text("good.key").strip();
    String secret = key.lines().skip(1).findFirst().orElseThrow();
    for (String pasted :
        List.of(
            key.replace("\n", lineEnd),
            key.replace("PRIVATE KEY", "CERTIFICATE").replace("\n", lineEnd),
            key.replace("-----", "").replace("\n", lineEnd),
            key.replace("-----END", "-----FIN").replace("\n", lineEnd))) {
      assertThatThrownBy(() -> read(pasted, key))
          .isInstanceOf(GeneralSecurityException.class)
          .message()
          .doesNotContain(secret.substring(0, 12));
      if (!pasted.startsWith("-----BEGIN PRIVATE") || pasted.contains("FIN")) {
        assertThatThrownBy(() -> read(Pem.text("good.crt"), pasted))
            .isInstanceOf(GeneralSecurityException.class)
            .message()
            .doesNotContain(secret.substring(0, 12));
      }
    }
  }

  private static void refused(String certificate, String key, String why) {
    assertThatThrownBy(() -> read(certificate, key))
        .isInstanceOf(GeneralSecurityException.class)
        .hasMessage(why);
  }

  private static String pem(String label, byte[] der) {
    return "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n"
        .formatted(label, Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der));
  }
}
