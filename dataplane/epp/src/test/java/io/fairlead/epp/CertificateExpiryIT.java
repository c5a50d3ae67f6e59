package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.epp.tls.PemFiles;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The metric tells when the certificates end that clients really get, of each port with TLS. */
@ExtendWith(NoLeaks.class)
class CertificateExpiryIT {

  @TempDir private Path folder;

  private final HttpClient http = HttpClient.newHttpClient();
  private Path pair;
  private DataPlane dataPlane;

  @BeforeEach
  void start() throws Exception {
    pair = Files.createDirectory(folder.resolve("pair"));
    Path resources = Files.createDirectory(folder.resolve("resources"));
    new Resources(resources).pool();
    PemFiles.write(pair, "rsa.crt", "rsa-pkcs1.key");
    var listen = new DataPlaneConfig.Listen("127.0.0.1", 0);
    dataPlane =
        DataPlane.start(
            DataPlaneConfig.builder(new DataPlaneConfig.Folder(resources))
                .gateway(new DataPlaneConfig.Gateway(listen, 1 << 20, Duration.ZERO, pair, 10))
                .extProc(new DataPlaneConfig.ExtProc(listen, true, null, 1 << 20))
                .admin("127.0.0.1", 0)
                .loops(1)
                .build());
    dataPlane.ready().get(20, TimeUnit.SECONDS);
  }

  @AfterEach
  void stop() {
    dataPlane.close();
    http.close();
  }

  @Test
  void tellsOfWhatIsServedNowAlsoWhenItHasChanged() throws Exception {
    int gateway = dataPlane.gatewayPort().orElseThrow();
    X509Certificate first = served(gateway);
    assertThat(first.getSubjectX500Principal().getName()).isEqualTo("CN=rsa");
    assertThat(told("gateway")).isEqualTo(end(first));
    assertThat(told("ext_proc")).isEqualTo(end(served(dataPlane.extProcPort().orElseThrow())));

    PemFiles.writeMade(pair, "renewed", Instant.now());
    await().until(() -> told("gateway") != end(first));
    X509Certificate second = served(gateway);
    assertThat(second.getSubjectX500Principal().getName()).isEqualTo("CN=renewed");
    assertThat(told("gateway")).isEqualTo(end(second));
  }

  private static long end(X509Certificate certificate) {
    return certificate.getNotAfter().toInstant().getEpochSecond();
  }

  private long told(String listener) throws Exception {
    String page =
        http.send(
                HttpRequest.newBuilder(
                        URI.create(
                            "http://127.0.0.1:%d/metrics"
                                .formatted(dataPlane.adminPort().orElseThrow())))
                    .build(),
                HttpResponse.BodyHandlers.ofString())
            .body();
    Matcher line =
        Pattern.compile(
                "(?m)^fairlead_tls_certificate_expiry_timestamp_seconds\\{listener=\"%s\"} (.+)$"
                    .formatted(listener))
            .matcher(page);
    assertThat(line.find()).as(listener).isTrue();
    return (long) Double.parseDouble(line.group(1));
  }

  private static X509Certificate served(int port) throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
    try (SSLSocket socket =
        (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", port)) {
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setApplicationProtocols(new String[] {"h2"});
      socket.setSSLParameters(parameters);
      return (X509Certificate) socket.getSession().getPeerCertificates()[0];
    }
  }
}
