package io.fairlead.epp.tls;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.InstantSource;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;

/** What clients may ask of TLS under the options of the image. */
class RenegotiationIT {

  private static final String REFUSED = "refused";

  /** A handshake costs a server far more than its client. */
  @Test
  void aClientHasOneHandshakeForEachConnection() throws Exception {
    Process process =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "@../../hack/dataplane.options",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (InputStream out = process.getInputStream()) {
      assertThat(new String(out.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo(REFUSED);
    }
    assertThat(process.waitFor()).isZero();
  }

  /** Shakes hands twice on a connection of TLS 1.2 and tells what became of the second time. */
  static final class Main {

    private Main() {}

    public static void main(String[] args) throws Exception {
      SSLContext context = context();
      try (SSLServerSocket server =
          (SSLServerSocket) context.getServerSocketFactory().createServerSocket(0)) {
        Thread serving =
            Thread.startVirtualThread(
                () -> {
                  try (SSLSocket socket = (SSLSocket) server.accept()) {
                    socket.getOutputStream().write(socket.getInputStream().read());
                  } catch (Exception e) {
                    // the client tells of it
                  }
                });
        try (SSLSocket client =
            (SSLSocket)
                context.getSocketFactory().createSocket("127.0.0.1", server.getLocalPort())) {
          client.setEnabledProtocols(new String[] {"TLSv1.2"});
          client.startHandshake();
          System.out.print(again(client));
        }
        serving.join();
      }
    }

    private static String again(SSLSocket client) throws Exception {
      try {
        client.startHandshake();
        client.getOutputStream().write(1);
        return client.getInputStream().read() == 1 ? "done" : REFUSED;
      } catch (IOException e) {
        return REFUSED;
      }
    }

    private static SSLContext context() throws Exception {
      SelfSignedCertificate made =
          SelfSignedCertificate.create("localhost", InstantSource.system(), new SecureRandom());
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      store.setKeyEntry("own", made.key(), new char[0], new X509Certificate[] {made.certificate()});
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, new char[0]);
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), trust.getTrustManagers(), new SecureRandom());
      return context;
    }
  }
}
