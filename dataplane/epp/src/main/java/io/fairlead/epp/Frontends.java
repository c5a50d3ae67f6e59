package io.fairlead.epp;

import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.frontend.extproc.ExtProcConfig;
import io.fairlead.epp.frontend.extproc.ExtProcServer;
import io.fairlead.epp.frontend.extproc.Health;
import io.fairlead.epp.frontend.extproc.HealthServer;
import io.fairlead.epp.frontend.gateway.ClientBounds;
import io.fairlead.epp.frontend.gateway.Gateway;
import io.fairlead.epp.frontend.gateway.GatewayConfig;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.tls.ServingSecurity;
import io.fairlead.epp.tracing.Tracing;
import io.micrometer.core.instrument.Gauge;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Makes the frontends of a pool, on loops that stay the data plane's. */
final class Frontends {

  private static final String H2C = "kubernetes.io/h2c";

  private final PoolRuntime runtime;
  private final Readiness readiness;
  private final PoolLoop pool;
  private final EventLoopGroup group;
  private final BodyBudget bodies;
  private final @Nullable Tracing tracing;
  private final Health health = new Health();

  Frontends(
      PoolRuntime runtime,
      Readiness readiness,
      EventLoopGroup group,
      BodyBudget bodies,
      @Nullable Tracing tracing) {
    this.runtime = runtime;
    this.readiness = readiness;
    pool = runtime.pool();
    this.group = group;
    this.bodies = bodies;
    this.tracing = tracing;
    BodyMeters.register(runtime.registry(), bodies);
    readiness.listen(health::ready);
  }

  Frontend gateway(DataPlaneConfig.Gateway config) {
    DataPlaneConfig.Listen listen = config.listen();
    Gateway server =
        Gateway.start(
            GatewayConfig.on(listen.host(), listen.port())
                .withSecurity(security(config))
                .withClients(ClientBounds.DEFAULT.withConnections(config.maxConnections()))
                .withMaxBodyBytes(config.maxBodyBytes())
                .withEndpoints(runtime.endpointTls())
                .withTracing(tracing)
                .withOrigins(config.origins()),
            pool,
            bodies,
            group,
            readiness::ready,
            runtime::models,
            () -> ThreadLocalRandom.current().nextLong());
    Gauge.builder("fairlead_gateway_connections", server, Gateway::connections)
        .description("Open connections of clients of the gateway.")
        .register(runtime.registry());
    CertificateMeters.register(runtime.registry(), "gateway", server::certificateEnd);
    runtime.onEndpoints(server::retain);
    runtime.onConfig(applied -> server.speakHttp2(applied.appProtocol().equals(H2C)));
    return new Frontend() {
      @Override
      public int port() {
        return server.port();
      }

      @Override
      public boolean drain(Duration bound) {
        Future<Boolean> drained = server.drain(config.lameDuck(), bound);
        return drained.awaitUninterruptibly(bound.toMillis() + 5_000) && drained.getNow();
      }
    };
  }

  private static ServingSecurity security(DataPlaneConfig.Gateway config) {
    return config.certPath() == null
        ? new ServingSecurity.PlainText()
        : new ServingSecurity.FromFolder(config.certPath());
  }

  /** Holds the port; it is listened on as of {@link Readiness}. */
  Frontend extProc(DataPlaneConfig.ExtProc config) {
    ServingSecurity security = security(config);
    if (security instanceof ServingSecurity.FromFolder given) {
      given.ready(); // a pair that can't be used ends the picker now, and not when it listens
    }
    LatePort late =
        LatePort.hold("ext_proc", config.listen(), port -> extProc(config, security, port));
    readiness.beforeReady(late::open);
    return late;
  }

  private static ServingSecurity security(DataPlaneConfig.ExtProc config) {
    return !config.secure()
        ? new ServingSecurity.PlainText()
        : config.certPath() == null
            ? new ServingSecurity.SelfSigned()
            : new ServingSecurity.FromFolder(config.certPath());
  }

  private Frontend extProc(DataPlaneConfig.ExtProc config, ServingSecurity security, int port) {
    ExtProcServer server =
        ExtProcServer.start(
            new ExtProcConfig(config.listen().host(), port, security, config.maxBodyBytes(), true)
                .withLeaveAfterPick(config.leaveAfterPick())
                .withTracing(tracing),
            pool,
            bodies,
            group,
            health);
    ExtProcMeters.register(runtime.registry(), server.counters());
    CertificateMeters.register(runtime.registry(), "ext_proc", server::certificateEnd);
    return new Frontend() {
      @Override
      public int port() {
        return server.port();
      }

      @Override
      public boolean drain(Duration bound) {
        return server.drain(config.lameDuck(), bound);
      }
    };
  }

  Frontend health(DataPlaneConfig.Listen listen) {
    HealthServer server = HealthServer.start(listen.host(), listen.port(), group, health);
    return new Frontend() {
      @Override
      public int port() {
        return server.port();
      }

      @Override
      public boolean drain(Duration bound) {
        server.close();
        return true;
      }
    };
  }
}
