package io.fairlead.epp.status;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.report.PickerReport;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the picker's report to a Lease named after its pod and owned by it, when it changes, and
 * about every 45 s in case somebody deleted or edited the Lease: of a write that changes nothing
 * the API server stores nothing and tells nobody. So that everybody sees that the picker still gets
 * through, the Lease gets another {@code renewTime} with each change, and every few minutes. A
 * write that fails is tried again with the newest report; calls block on a thread of their own.
 */
public final class LeaseReporter implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(LeaseReporter.class);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

  /**
   * From one write to the next where nothing changes; each waits up to a quarter longer. That is
   * less than {@link PickerReport#REPEATED_WITHIN}.
   */
  static final Duration REPEAT = Duration.ofSeconds(40);

  /**
   * How old a {@code renewTime} is at least when a repeated write has another. With a repeat on top
   * that is less than {@link PickerReport#RENEWED_WITHIN}.
   */
  static final Duration RENEW = Duration.ofMinutes(4);

  /** Reports in a burst are told as one. */
  private static final Duration GAP = Duration.ofMillis(100);

  private final KubernetesClient client;
  private final Identity identity;
  private final Duration repeat;
  private final Duration renew;
  private final BlockingQueue<PickerReport> reports = new LinkedBlockingQueue<>();
  private final Thread thread;

  /**
   * Who reports.
   *
   * @param picker name of the picker that the pod is a replica of
   * @param podName also the Lease's name
   * @param podUid the Lease goes when this pod goes
   */
  public record Identity(String picker, String podName, String podNamespace, String podUid) {}

  /** Begins to write what {@link #report} gets; the client stays the caller's to close. */
  public LeaseReporter(KubernetesClient client, Identity identity) {
    this(client, identity, REPEAT, RENEW);
  }

  LeaseReporter(KubernetesClient client, Identity identity, Duration repeat, Duration renew) {
    this.client = client;
    this.identity = identity;
    this.repeat = repeat;
    this.renew = renew;
    thread = Thread.ofPlatform().daemon().name("fairlead-status").start(this::run);
  }

  /** Takes a report to write; returns at once. */
  public void report(PickerReport report) {
    reports.add(report);
  }

  @Override
  public void close() {
    thread.interrupt();
  }

  private void run() {
    @Nullable PickerReport written = null;
    Duration pause = FIRST_PAUSE;
    ZonedDateTime renewed = now();
    long renewedAt = System.nanoTime();
    try {
      PickerReport next = reports.take();
      boolean again = false;
      while (true) {
        next = newest(next);
        if (!next.equals(written) || System.nanoTime() - renewedAt >= renew.toNanos()) {
          renewed = now();
          renewedAt = System.nanoTime();
        }
        if ((next.equals(written) && !again) || write(next, renewed)) {
          written = next;
          pause = FIRST_PAUSE;
          TimeUnit.NANOSECONDS.sleep(GAP.toNanos());
          @Nullable PickerReport news = reports.poll(untilRepeat(), TimeUnit.NANOSECONDS);
          again = news == null;
          next = news == null ? next : news;
        } else {
          TimeUnit.NANOSECONDS.sleep(pause.toNanos());
          Duration longer = pause.multipliedBy(2);
          pause = longer.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : longer;
        }
      }
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  /** Not the same for all: pickers that start together would write together. */
  private long untilRepeat() {
    long nanos = repeat.toNanos();
    return nanos + ThreadLocalRandom.current().nextLong(nanos / 4);
  }

  private PickerReport newest(PickerReport oldest) {
    PickerReport newest = oldest;
    for (@Nullable PickerReport next = reports.poll(); next != null; next = reports.poll()) {
      newest = next;
    }
    return newest;
  }

  /** For people to read: whoever judges by it goes by whether it changes. */
  private static ZonedDateTime now() {
    return ZonedDateTime.now(ZoneOffset.UTC);
  }

  private boolean write(PickerReport report, ZonedDateTime renewed) {
    try {
      client
          .leases()
          .inNamespace(identity.podNamespace())
          .resource(lease(report, renewed))
          .fieldManager("fairlead-picker")
          .forceConflicts()
          .serverSideApply();
      return true;
    } catch (RuntimeException e) {
      LOG.warn(
          "Lease {}/{}: status not written, trying again: {}",
          identity.podNamespace(),
          identity.podName(),
          e.toString());
      return false;
    }
  }

  private Lease lease(PickerReport report, ZonedDateTime renewed) {
    return new LeaseBuilder()
        .withNewMetadata()
        .withName(identity.podName())
        .withNamespace(identity.podNamespace())
        .addToLabels(PickerReport.PICKER_LABEL, identity.picker())
        .addToAnnotations(PickerReport.ANNOTATION, ReportText.of(report))
        .addNewOwnerReference()
        .withApiVersion("v1")
        .withKind("Pod")
        .withName(identity.podName())
        .withUid(identity.podUid())
        .endOwnerReference()
        .endMetadata()
        .withNewSpec()
        .withHolderIdentity(identity.podName())
        .withRenewTime(renewed)
        .endSpec()
        .build();
  }
}
