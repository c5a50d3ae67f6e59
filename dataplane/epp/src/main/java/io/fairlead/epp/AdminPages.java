package io.fairlead.epp;

import io.fairlead.core.EndpointSnapshot;
import io.fairlead.core.QueueSnapshot;
import io.fairlead.crds.access.PageAccess;
import io.fairlead.epp.external.ExternalReport;
import io.fairlead.epp.shadow.ShadowReport;
import io.fairlead.epp.status.PoolMoment;
import io.fairlead.epp.telemetry.AdminServer;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/** What the admin server shows of a data plane. */
record AdminPages(DataPlane dataPlane, PoolRuntime runtime) implements AdminServer.Pages {

  @Override
  public Future<List<EndpointSnapshot>> snapshot() {
    return runtime.snapshot();
  }

  @Override
  public Future<QueueSnapshot> queues() {
    return runtime.pool().queues();
  }

  @Override
  public String metrics() {
    return runtime.metrics();
  }

  @Override
  public SortedMap<String, Long> scrapeFailures() {
    return runtime.scrapeFailures();
  }

  @Override
  public String pool() {
    return runtime.name();
  }

  @Override
  public long now() {
    return runtime.now();
  }

  @Override
  public @Nullable PageAccess access() {
    return runtime.access();
  }

  @Override
  public String notReady() {
    return dataPlane.notReady();
  }

  @Override
  public Future<@Nullable String> decision(String id, int nth) {
    return runtime.decision(id, nth);
  }

  @Override
  public Future<String> decisionsKept() {
    return runtime.decisionsKept();
  }

  @Override
  public Future<String> decisions(Map<String, String> wanted, int most) {
    return runtime.decisions(wanted, most);
  }

  @Override
  public List<ShadowReport> shadows() {
    return runtime.pool().shadows().reports();
  }

  @Override
  public List<ExternalReport> external() {
    return runtime.pool().externalReports();
  }

  @Override
  public Future<PoolMoment> moment() {
    return runtime.moment();
  }

  @Override
  public String status(PoolMoment moment) {
    return runtime.statusPage(moment);
  }

  @Override
  public Future<String> config() {
    return runtime.configPage();
  }
}
