package io.fairlead.operator.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is said of a Secret by what an API server answers. */
class CertificatesTest {

  private final AtomicInteger answer = new AtomicInteger(404);
  private final AtomicLong nanos = new AtomicLong();
  private final Certificates certificates = new Certificates(InstantSource.system(), nanos::get);
  private HttpServer server;
  private KubernetesClient client;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(answer.get(), -1);
          exchange.close();
        });
    server.start();
    client =
        new KubernetesClientBuilder()
            .withConfig(
                new ConfigBuilder()
                    .withAutoConfigure(false)
                    .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
                    .withRequestRetryBackoffLimit(0)
                    .build())
            .build();
  }

  @AfterEach
  void stop() {
    client.close();
    server.stop(0);
  }

  @Test
  void aSecretThatIsMissingStaysSoWhileTheApiServerIsInTrouble() {
    assertThat(reason()).isEqualTo(Reason.INVALID_CERTIFICATE_REF);

    answer.set(500);
    nanos.addAndGet(NamedObject.WHILE_WRONG.toNanos());
    assertThat(reason()).isEqualTo(Reason.INVALID_CERTIFICATE_REF);
  }

  @Test
  void whoMayNotReadSecretsGoesWithout() {
    answer.set(403);
    assertThat(judged()).isNull();
  }

  private Reason reason() {
    return Objects.requireNonNull(judged()).reason();
  }

  private @Nullable Verdict judged() {
    return certificates.judge("uid", picker(), client).wrong();
  }

  private static EndpointPicker picker() {
    return Serialization.unmarshal(
        """
        metadata: {name: pool-epp, namespace: a}
        spec: {tls: {secretName: pair}}
        """,
        EndpointPicker.class);
  }
}
