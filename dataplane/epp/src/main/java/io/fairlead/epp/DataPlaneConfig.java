package io.fairlead.epp;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.epp.capture.CaptureConfig;
import io.fairlead.epp.console.ConsoleConfig;
import io.fairlead.epp.datalayer.MetricsScraper;
import io.fairlead.epp.frontend.gateway.AllowedOrigins;
import io.fairlead.epp.handover.HandOverSettings;
import io.fairlead.epp.tls.EndpointSecurity;
import io.fairlead.epp.tracing.Tracing;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a data plane is made of. A part that is null is not started.
 *
 * @param source where the config and the endpoints come from
 * @param gateway the HTTP gateway
 * @param extProc the ext_proc server
 * @param health the gRPC health server
 * @param admin HTTP: {@code /metrics}, {@code /healthz}, {@code /readyz}, {@code /debug/status}
 * @param console the page for people, there too; null for none
 * @param scraping how endpoints are asked for their metrics
 * @param drain longest time that requests in flight get when the data plane is closed
 * @param warmUp how long requests of the data plane's own make it quick before it is ready, 0 for
 *     not at all
 * @param loops event loops, at least 1
 * @param capture where what the pool is told and decides is written down
 * @param endpoints how endpoints are spoken to: probes, and servers' own metrics where {@code
 *     scraping} reads them over TLS, and by the gateway
 * @param tracing where spans of requests go; null for no spans
 * @param checkpoint folder for what the picker starts from while the API server can't be reached;
 *     null for nothing. Means nothing where the source is no API server
 * @param metricsAuth whether metrics are shown to those alone whom the API server lets get the path
 * @param handOver how pickers of the pool hand over what they know; null for not at all
 */
public record DataPlaneConfig(
    Source source,
    @Nullable Gateway gateway,
    @Nullable ExtProc extProc,
    @Nullable Listen health,
    @Nullable Listen admin,
    @Nullable ConsoleConfig console,
    MetricsScraper.Settings scraping,
    Duration drain,
    Duration warmUp,
    int loops,
    @Nullable CaptureConfig capture,
    EndpointSecurity endpoints,
    Tracing.@Nullable Settings tracing,
    @Nullable Path checkpoint,
    boolean metricsAuth,
    @Nullable HandOverSettings handOver) {

  public DataPlaneConfig {
    if (loops < 1) {
      throw new IllegalArgumentException("loops is " + loops + "; set at least 1");
    }
    if (drain.isNegative()) {
      throw new IllegalArgumentException("drain is " + drain + "; set 0 or more");
    }
    if (warmUp.isNegative()) {
      throw new IllegalArgumentException("warmUp is " + warmUp + "; set 0 or more");
    }
    if (metricsAuth && !(source instanceof Kubernetes || source instanceof ClusterPool)) {
      throw new IllegalArgumentException(
          "metricsAuth asks the API server, and the config is not of one; leave --metrics-endpoint-auth out");
    }
  }

  /** Where the config and the endpoints come from. */
  public sealed interface Source permits Kubernetes, Folder, Files, ClusterPool {}

  /**
   * A folder of resources: one InferencePool, its InferenceModels, EndpointSlices.
   *
   * @param path the folder (or one file)
   */
  public record Folder(Path path) implements Source {}

  /**
   * Endpoints from one file, the rest from another.
   *
   * @param endpoints an EndpointSlice, or a list {@code endpoints: [{name, address, port}]}
   * @param config a config document or an EndpointPickerConfig; null for the defaults
   */
  public record Files(Path endpoints, @Nullable Path config) implements Source {}

  /**
   * A ConfigMap with the config document, and the pool's pods.
   *
   * @param namespace of the ConfigMap and the pods
   * @param configMap name of the ConfigMap; its key is {@code config.yaml}
   * @param reporting how to tell the operator, null to tell nobody
   * @param client opens a connection to the API server; closed by the data plane
   */
  public record Kubernetes(
      String namespace,
      String configMap,
      @Nullable Reporting reporting,
      Supplier<KubernetesClient> client)
      implements Source {

    /** With the client's usual way to find the API server: service account, then kubeconfig. */
    public Kubernetes(String namespace, String configMap, @Nullable Reporting reporting) {
      this(namespace, configMap, reporting, ClusterPool::usualClient);
    }
  }

  /**
   * Who reports.
   *
   * @param picker name of the picker that this process is a replica of
   * @param podName name of this process's pod, also of the Lease
   * @param podNamespace its namespace
   * @param podUid its UID: the Lease goes when the pod goes
   */
  public record Reporting(String picker, String podName, String podNamespace, String podUid) {}

  /**
   * A place to listen.
   *
   * @param host address; {@code 0.0.0.0} for all of IPv4, {@code ::} for all
   * @param port 0 for any free one
   */
  public record Listen(String host, int port) {}

  /**
   * The HTTP gateway.
   *
   * @param listen where
   * @param maxBodyBytes largest request body
   * @param lameDuck how long new connections are served after the end began: clients and load
   *     balancers learn late of it. Counts towards the bound on the drain
   * @param certPath folder of {@code tls.crt} and {@code tls.key}; null for plain text
   * @param maxConnections of clients, at least 1
   * @param origins whose pages a browser lets call
   */
  public record Gateway(
      Listen listen,
      int maxBodyBytes,
      Duration lameDuck,
      @Nullable Path certPath,
      int maxConnections,
      AllowedOrigins origins) {

    public Gateway {
      if (lameDuck.isNegative()) {
        throw new IllegalArgumentException("lameDuck is " + lameDuck + "; set 0 or more");
      }
      if (maxConnections < 1) {
        throw new IllegalArgumentException(
            "maxConnections is " + maxConnections + "; set at least 1");
      }
    }

    /** Called by any page. */
    public Gateway(
        Listen listen,
        int maxBodyBytes,
        Duration lameDuck,
        @Nullable Path certPath,
        int maxConnections) {
      this(listen, maxBodyBytes, lameDuck, certPath, maxConnections, AllowedOrigins.ANY);
    }

    /** In plain text; takes nothing new from the beginning of the end. */
    public Gateway(Listen listen, int maxBodyBytes) {
      this(listen, maxBodyBytes, Duration.ZERO, null, DEFAULT_MAX_CONNECTIONS);
    }
  }

  /**
   * The ext_proc server.
   *
   * @param listen where
   * @param secure TLS
   * @param certPath folder of {@code tls.crt} and {@code tls.key}; null for a self-signed pair
   * @param maxBodyBytes largest request body
   * @param lameDuck so long the server takes new streams after the end began: proxies learn late of
   *     it. Counts towards the bound on the drain
   * @param leaveAfterPick whether the gateway goes on alone once it has the request and its
   *     endpoint
   * @param ignoreSubset whether a request may go to any endpoint, whatever its gateway allows
   */
  public record ExtProc(
      Listen listen,
      boolean secure,
      @Nullable Path certPath,
      int maxBodyBytes,
      Duration lameDuck,
      boolean leaveAfterPick,
      boolean ignoreSubset) {

    public ExtProc {
      if (lameDuck.isNegative()) {
        throw new IllegalArgumentException("lameDuck is " + lameDuck + "; set 0 or more");
      }
    }

    /** Keeps to what gateways allow. */
    public ExtProc(
        Listen listen,
        boolean secure,
        @Nullable Path certPath,
        int maxBodyBytes,
        Duration lameDuck,
        boolean leaveAfterPick) {
      this(listen, secure, certPath, maxBodyBytes, lameDuck, leaveAfterPick, false);
    }

    /** Takes nothing new from the beginning of the end, and stays with every stream. */
    public ExtProc(Listen listen, boolean secure, @Nullable Path certPath, int maxBodyBytes) {
      this(listen, secure, certPath, maxBodyBytes, Duration.ZERO, false, false);
    }
  }

  /** Default bound on clients' connections. */
  public static final int DEFAULT_MAX_CONNECTIONS = 16_384;

  /** Default bound on request bodies. */
  public static final int DEFAULT_MAX_BODY_BYTES = 32 * 1024 * 1024;

  /** Starts from the defaults: nothing listens, 30 s to drain, no warm-up, a loop per processor. */
  public static Builder builder(Source source) {
    return new Builder(source);
  }

  /** Collects the parts. */
  public static final class Builder {
    private final Source source;
    private @Nullable Gateway gateway;
    private @Nullable ExtProc extProc;
    private @Nullable Listen health;
    private @Nullable Listen admin;
    private @Nullable ConsoleConfig console;
    private MetricsScraper.Settings scraping = MetricsScraper.Settings.DEFAULT;
    private Duration drain = Duration.ofSeconds(30);
    private Duration warmUp = Duration.ZERO;
    private int loops = Runtime.getRuntime().availableProcessors();
    private @Nullable CaptureConfig capture;
    private EndpointSecurity endpoints = new EndpointSecurity.PlainText();
    private Tracing.@Nullable Settings tracing;
    private @Nullable Path checkpoint;
    private boolean metricsAuth;
    private @Nullable HandOverSettings handOver;

    private Builder(Source source) {
      this.source = source;
    }

    /** Runs the HTTP gateway there. */
    public Builder gateway(String host, int port) {
      return gateway(new Gateway(new Listen(host, port), DEFAULT_MAX_BODY_BYTES));
    }

    /** Runs the HTTP gateway. */
    public Builder gateway(Gateway part) {
      gateway = part;
      return this;
    }

    /** Runs the ext_proc server. */
    public Builder extProc(ExtProc part) {
      extProc = part;
      return this;
    }

    /** Runs the gRPC health server there. */
    public Builder health(String host, int port) {
      health = new Listen(host, port);
      return this;
    }

    /** Serves metrics, health and status over HTTP there. */
    public Builder admin(String host, int port) {
      admin = new Listen(host, port);
      return this;
    }

    /** Shows people what the picker does, where metrics are served; null for no such page. */
    public Builder console(@Nullable ConsoleConfig part) {
      console = part;
      return this;
    }

    /** How endpoints are asked for their metrics. */
    public Builder scraping(MetricsScraper.Settings settings) {
      scraping = settings;
      return this;
    }

    /** Longest time that requests in flight get at the end. */
    public Builder drain(Duration bound) {
      drain = bound;
      return this;
    }

    /** How long requests of its own make it quick before it is ready. */
    public Builder warmUp(Duration bound) {
      warmUp = bound;
      return this;
    }

    /** Number of event loops. */
    public Builder loops(int count) {
      loops = count;
      return this;
    }

    /** Writes down there what the pool is told and decides; null for nothing. */
    public Builder capture(@Nullable CaptureConfig config) {
      capture = config;
      return this;
    }

    /** How endpoints are spoken to. */
    public Builder endpoints(EndpointSecurity security) {
      endpoints = security;
      return this;
    }

    /** Sends spans of requests there; null for none. */
    public Builder tracing(Tracing.@Nullable Settings settings) {
      tracing = settings;
      return this;
    }

    /** Keeps there what it starts from while the API server can't be reached; null for nothing. */
    public Builder checkpoint(@Nullable Path folder) {
      checkpoint = folder;
      return this;
    }

    /** Shows metrics to those alone whom the API server lets get the path. */
    public Builder metricsAuth(boolean asked) {
      metricsAuth = asked;
      return this;
    }

    /** Has pickers of the pool hand over what they know; null for not at all. */
    public Builder handOver(@Nullable HandOverSettings settings) {
      handOver = settings;
      return this;
    }

    /** All parts as they are now. */
    public DataPlaneConfig build() {
      return new DataPlaneConfig(
          source,
          gateway,
          extProc,
          health,
          admin,
          console,
          scraping,
          drain,
          warmUp,
          loops,
          capture,
          endpoints,
          tracing,
          checkpoint,
          metricsAuth,
          handOver);
    }
  }
}
