package io.fairlead.operator.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.utils.Serialization;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import io.fairlead.operator.testing.ScriptedApi;
import java.io.IOException;
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
  private final AtomicInteger asked = new AtomicInteger();
  private ScriptedApi api;

  @BeforeEach
  void start() throws IOException {
    api =
        new ScriptedApi(
            exchange -> {
              asked.incrementAndGet();
              exchange.sendResponseHeaders(answer.get(), -1);
              exchange.close();
            });
  }

  @AfterEach
  void stop() {
    api.close();
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

  /** Whoever edits it has seen to the Secret, and looks for what is said now. */
  @Test
  void aPickerThatIsEditedIsLookedAtAnew() {
    assertThat(reason()).isEqualTo(Reason.INVALID_CERTIFICATE_REF);
    assertThat(reason()).isEqualTo(Reason.INVALID_CERTIFICATE_REF);
    assertThat(asked).hasValue(1);
    EndpointPicker edited = picker();
    edited.getMetadata().setGeneration(2L);
    assertThat(certificates.judge("uid", edited, api.client()).wrong()).isNotNull();
    assertThat(asked).hasValue(2);
  }

  private Reason reason() {
    return Objects.requireNonNull(judged()).reason();
  }

  private @Nullable Verdict judged() {
    return certificates.judge("uid", picker(), api.client()).wrong();
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
