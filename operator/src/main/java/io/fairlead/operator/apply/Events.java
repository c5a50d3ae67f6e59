package io.fairlead.operator.apply;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Warnings about an object that kubectl describe shows. One that cannot be sent is logged only. */
public final class Events {
  private static final Logger LOG = LoggerFactory.getLogger(Events.class);

  private final KubernetesClient client;
  private final InstantSource clock;

  public Events(KubernetesClient client, InstantSource clock) {
    this.client = client;
    this.clock = clock;
  }

  /**
   * Tells of something that happened once; what lasts belongs into a condition.
   *
   * @param reason CamelCase
   */
  public void warn(HasMetadata about, String reason, String message) {
    String namespace = about.getMetadata().getNamespace();
    String name = about.getMetadata().getName();
    LOG.warn("{} {}/{}: {}", about.getKind(), namespace, name, message);
    String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
    Event event =
        new EventBuilder()
            .withNewMetadata()
            .withGenerateName("fairlead-")
            .withNamespace(namespace)
            .endMetadata()
            .withNewInvolvedObject()
            .withApiVersion(about.getApiVersion())
            .withKind(about.getKind())
            .withNamespace(namespace)
            .withName(name)
            .withUid(about.getMetadata().getUid())
            .endInvolvedObject()
            .withType("Warning")
            .withReason(reason)
            .withMessage(message)
            .withNewSource()
            .withComponent("fairlead-operator")
            .endSource()
            .withFirstTimestamp(now)
            .withLastTimestamp(now)
            .withCount(1)
            .build();
    try {
      client.resource(event).create();
    } catch (KubernetesClientException e) {
      LOG.warn("an Event could not be written: {}", e.getMessage());
    }
  }
}
