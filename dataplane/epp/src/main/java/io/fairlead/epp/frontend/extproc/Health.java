package io.fairlead.epp.frontend.extproc;

import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc;
import io.grpc.BindableService;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;
import java.util.List;

/**
 * Health as gRPC tells it, shared by the ports that do. Not ready at first. Safe to use from any
 * thread.
 */
public final class Health {

  /** Always serving: the process lives. */
  private static final String LIVENESS = "liveness";

  /** The names that proxies, gateways and kubelets ask for to know whether requests may come. */
  private static final List<String> READINESS =
      List.of(
          HealthStatusManager.SERVICE_NAME_ALL_SERVICES,
          "readiness",
          "inference-extension",
          ExternalProcessorGrpc.SERVICE_NAME);

  private final HealthStatusManager statuses = new HealthStatusManager();

  /** Alive, not ready. */
  public Health() {
    statuses.setStatus(LIVENESS, ServingStatus.SERVING);
    ready(false);
  }

  /** Sets whether requests may come; watchers are told at once. */
  public void ready(boolean ready) {
    ServingStatus status = ready ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
    READINESS.forEach(name -> statuses.setStatus(name, status));
  }

  BindableService service() {
    return statuses.getHealthService();
  }
}
