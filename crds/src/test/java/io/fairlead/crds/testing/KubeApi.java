package io.fairlead.crds.testing;

import io.fabric8.kubeapitest.KubeAPIServer;
import io.fabric8.kubeapitest.KubeAPIServerConfig;
import io.fabric8.kubeapitest.KubeAPIServerConfigBuilder;
import io.fabric8.kubeapitest.KubeAPITestException;
import io.fabric8.kubernetes.api.model.networking.v1.ServiceCIDR;
import io.fabric8.kubernetes.api.model.networking.v1.ServiceCIDRBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fairlead.crds.watch.ApiJson;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.StoreScope;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * A real API server (etcd and kube-apiserver, no controllers), one for all test classes of a JVM,
 * stopped at its end. Register it with {@code @ExtendWith(KubeApi.class)}; tests and their
 * constructors may take a {@link KubernetesClient} or a {@link Running} parameter. Tests share the
 * server, so each uses a namespace of its own.
 */
public final class KubeApi implements BeforeAllCallback, ParameterResolver {
  private static final String DIRECTORY = "fairlead.kubeapi.dir";
  private static final String VERSION = "1.35.4";
  private static final String TOKEN = "administrator-of-tests";

  /** So long it may take to start, on a machine that is busy. */
  private static final Duration START = Duration.ofMinutes(3);

  /** Less than this before midnight none is begun. */
  private static final Duration LEAST = Duration.ofMinutes(2);

  @Override
  public void beforeAll(ExtensionContext context) {
    server(context);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == KubernetesClient.class || type == Running.class;
  }

  @Override
  public @Nullable Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Running running = server(context);
    return parameter.getParameter().getType() == Running.class ? running : running.client;
  }

  private static Running server(ExtensionContext context) {
    // Not with the root context: where a module's tests have several JVMs, each class has its own.
    return context
        .getStore(StoreScope.LAUNCHER_SESSION, Namespace.create(KubeApi.class))
        .computeIfAbsent(Running.class, key -> Running.start(), Running.class);
  }

  /** The kubectl of its release. */
  public static Path kubectl() {
    return program("kubectl");
  }

  private static Path program(String name) {
    Path program = Path.of(directory(), "k8s", VERSION + "-linux-amd64", name);
    if (!Files.isExecutable(program)) {
      throw new IllegalStateException(
          program + " is not there; run ./hack/test it, which prepares it");
    }
    return program;
  }

  private static String directory() {
    String directory = System.getProperty(DIRECTORY, "");
    if (directory.isEmpty()) {
      throw new IllegalStateException(
          "system property "
              + DIRECTORY
              + " is not set; run ./hack/test it, which prepares the API server and sets it");
    }
    return directory;
  }

  /** The running server. */
  public static final class Running implements AutoCloseable {
    private final KubeAPIServer server;
    private final String kubeConfig;
    private final KubernetesClient client;
    private final AuditLog audit;

    private Running(KubeAPIServer server, Path auditLog) {
      this.server = server;
      this.kubeConfig = kubeConfig(Config.fromKubeconfig(server.getKubeConfigYaml()));
      this.client =
          new KubernetesClientBuilder()
              .withConfig(Config.fromKubeconfig(kubeConfig))
              .withKubernetesSerialization(ApiJson.serialization())
              .build();
      this.audit = new AuditLog(auditLog, client);
      giveRoomForServices();
    }

    /**
     * It is started with 254 addresses for Services, and these stay: nothing empties the namespaces
     * of tests that are over.
     */
    private void giveRoomForServices() {
      ServiceCIDR more =
          new ServiceCIDRBuilder()
              .withNewMetadata()
              .withName("more")
              .endMetadata()
              .withNewSpec()
              .withCidrs("10.96.0.0/16")
              .endSpec()
              .build();
      client.resource(more).create();
    }

    /** One more, for a test that leaves nothing as it was; the caller closes it. */
    public static Running start() {
      return start(List.of());
    }

    /** The same, with these flags of kube-apiserver besides. */
    static Running start(List<String> flags) {
      String directory = directory();
      var _ = program("kube-apiserver");
      Path folder = folder();
      Path auditLog = folder.resolve("audit.log");
      KubeAPIServerConfigBuilder config =
          KubeAPIServerConfigBuilder.anAPIServerConfig()
              .withTestDir(directory)
              .withApiServerVersion(VERSION)
              .withOfflineMode(true)
              .withUpdateKubeConfig(false)
              .withApiServerFlag("--token-auth-file", tokens(folder).toString())
              .withApiServerFlag("--audit-policy-file", policy(folder))
              .withApiServerFlag("--audit-log-path", auditLog.toString());
      flags.forEach(config::withApiServerFlag);
      return new Running(started(config), auditLog);
    }

    /**
     * A port that kube-api-test finds free is bound by the API server a second or more later.
     * Meanwhile tests of another JVM may have taken it, and the API server ends: then one more is
     * started, at other ports.
     */
    private static KubeAPIServer started(KubeAPIServerConfigBuilder config) {
      try {
        return startedOnce(config);
      } catch (KubeAPITestException e) {
        return startedOnce(config);
      }
    }

    private static KubeAPIServer startedOnce(KubeAPIServerConfigBuilder config) {
      KubeAPIServer server =
          new Watched(config.withStartupTimeout((int) untilStarted().toMillis()).build());
      try {
        server.start();
      } catch (KubeAPITestException e) {
        server.stop();
        throw e;
      }
      return server;
    }

    /**
     * How long the start is waited for, once for etcd and then for the API server. kube-api-test
     * reckons by the time of day: a wait that would go past midnight is over at once. Where
     * midnight is near, it is awaited.
     */
    private static Duration untilStarted() {
      Duration left = untilMidnight();
      while (left.compareTo(LEAST) < 0) {
        LockSupport.parkNanos(left.toNanos() + 1);
        left = untilMidnight();
      }
      Duration half = left.dividedBy(2);
      return half.compareTo(START) < 0 ? half : START;
    }

    private static Duration untilMidnight() {
      return Duration.between(LocalTime.now(ZoneId.systemDefault()), LocalTime.MAX);
    }

    /** Below Maven's own, so that it goes with the rest of a build. */
    private static Path folder() {
      try {
        Path target = Files.createDirectories(Path.of("target", "kube-api").toAbsolutePath());
        return Files.createTempDirectory(target, "audit");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /**
     * The administrator's, by a token: of what the tests of the operator computed, a quarter was to
     * sign for each connection with a certificate's key, and to read that key for each client.
     */
    private static String kubeConfig(Config byCertificate) {
      return """
          apiVersion: v1
          kind: Config
          clusters:
          - {name: tests, cluster: {server: "%s", certificate-authority-data: %s}}
          users:
          - {name: admin, user: {token: %s}}
          contexts:
          - {name: tests, context: {cluster: tests, user: admin}}
          current-context: tests
          """
          .formatted(byCertificate.getMasterUrl(), authority(byCertificate), TOKEN);
    }

    private static String authority(Config config) {
      if (config.getCaCertData() != null) {
        return config.getCaCertData();
      }
      try {
        return Base64.getEncoder()
            .encodeToString(Files.readAllBytes(Path.of(config.getCaCertFile())));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static Path tokens(Path folder) {
      try {
        return Files.writeString(
            folder.resolve("tokens.csv"), TOKEN + ",kubeapitest,kubeapitest,system:masters\n");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static String policy(Path folder) {
      try {
        return AuditLog.policy(folder).toString();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** The kubeconfig of a cluster administrator, as YAML. */
    public String kubeConfig() {
      return kubeConfig;
    }

    /** The client that all tests share; closed with the server. */
    public KubernetesClient client() {
      return client;
    }

    /** What it was asked. */
    public AuditLog audit() {
      return audit;
    }

    @Override
    public void close() {
      client.close();
      server.stop();
    }
  }

  /** One whose start fails as soon as a program of it ends: kube-api-test goes on waiting. */
  private static final class Watched extends KubeAPIServer {
    private @Nullable Thread starting;
    private boolean ended;

    Watched(KubeAPIServerConfig config) {
      super(config);
    }

    @Override
    public void start() {
      begin(Thread.currentThread());
      try {
        super.start();
      } finally {
        end();
      }
    }

    private synchronized void begin(Thread thread) {
      starting = thread;
    }

    private synchronized void end() {
      starting = null;
      if (ended) {
        var _ = Thread.interrupted();
      }
    }

    @Override
    public void processStopped(Process process) {
      try {
        super.processStopped(process);
      } finally {
        interruptStart();
      }
    }

    private synchronized void interruptStart() {
      if (starting != null) {
        ended = true;
        starting.interrupt();
      }
    }
  }
}
