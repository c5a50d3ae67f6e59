package io.fairlead.epp.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.fairlead.crds.tls.PrivateKeyPem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

class ServedCertificateTest {

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource({"rsa, pkcs8, RSA", "rsa, pkcs1, RSA", "ec, pkcs8, EC", "ec, sec1, EC"})
  void readsTheKeysThatToolsWrite(String kind, String form, String algorithm) throws Exception {
    write(kind + ".crt", kind + "-" + form + ".key");
    ServedCertificate served = new ServedCertificate(folder);

    String alias = served.chooseServerAlias(algorithm, null, null);
    PrivateKey key = served.getPrivateKey(Objects.requireNonNull(alias));

    assertThat(key.getAlgorithm()).isEqualTo(algorithm);
    assertThat(served.getCertificateChain(alias)[0].getSubjectX500Principal().getName())
        .isEqualTo("CN=" + kind);
    assertThat(served.chooseServerAlias(algorithm.equals("EC") ? "RSA" : "EC", null, null))
        .isNull();
  }

  @Test
  void takesAPairThatHasChangedAndKeepsTheLastGoodOne() throws Exception {
    write("rsa.crt", "rsa-pkcs1.key");
    ServedCertificate served = new ServedCertificate(folder);
    String first = Objects.requireNonNull(served.chooseServerAlias("RSA", null, null));
    served.look();
    assertThat(served.chooseServerAlias("RSA", null, null)).as("unchanged").isEqualTo(first);

    write("ec.crt", "rsa-pkcs1.key");
    served.look();
    assertThat(served.chooseServerAlias("RSA", null, null)).as("half written").isEqualTo(first);
    Files.delete(folder.resolve("tls.key"));
    served.look();
    assertThat(served.chooseServerAlias("RSA", null, null)).as("gone").isEqualTo(first);

    write("ec.crt", "ec-sec1.key");
    served.look();
    String second = Objects.requireNonNull(served.chooseServerAlias("EC", null, null));
    assertThat(served.getPrivateKey(second).getAlgorithm()).isEqualTo("EC");
    assertThat(served.end())
        .isEqualTo(served.getCertificateChain(second)[0].getNotAfter().toInstant());
    assertThat(served.getPrivateKey(first).getAlgorithm())
        .as("of a handshake that is under way")
        .isEqualTo("RSA");
  }

  /** Whoever looks now and then would never look again. */
  @Test
  void anErrorInALookIsNotThrown() throws Exception {
    write("rsa.crt", "rsa-pkcs1.key");
    ServedCertificate served = new ServedCertificate(folder);
    AppenderBase<ILoggingEvent> failing =
        new AppenderBase<>() {
          @Override
          protected void append(ILoggingEvent event) {
            if (event.getLevel() == Level.INFO) {
              throw new StackOverflowError("of the test");
            }
          }
        };
    failing.start();
    Logger log = (Logger) LoggerFactory.getLogger(ServedCertificate.class);
    log.setLevel(Level.INFO);
    log.addAppender(failing);
    try {
      write("ec.crt", "ec-sec1.key");
      assertThatCode(served::look).doesNotThrowAnyException();
    } finally {
      log.detachAppender(failing);
      log.setLevel(null);
    }
  }

  @Test
  void refusesAKeyOfAnotherCertificate() throws Exception {
    write("ec.crt", "rsa-pkcs8.key");
    assertThatIllegalStateException()
        .isThrownBy(() -> new ServedCertificate(folder))
        .withMessageContaining(folder.resolve("tls.key").toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN EC PRIVATE KEY-----\nMIIB\n-----END EC PRIVATE KEY-----",
        "-----BEGIN EC PRIVATE KEY-----\n-----END EC PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n!\n-----END PRIVATE KEY-----"
      })
  void saysWhatIsWrongWithAKey(String pem) {
    assertThatThrownBy(() -> PrivateKeyPem.read(pem))
        .isInstanceOf(GeneralSecurityException.class)
        .hasMessageMatching(".*(key|PKCS#8).*");
  }

  private void write(String certificate, String key) {
    PemFiles.write(folder, certificate, key);
  }
}
