package io.fairlead.cli;

import io.fairlead.epp.tracing.Tracing;
import io.fairlead.stub.engine.EngineProfile;
import io.fairlead.stub.engine.Imperfection;
import io.fairlead.stub.profile.EngineProfiles;
import io.fairlead.stub.server.EngineKind;
import io.fairlead.stub.server.KvEvents;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.opentelemetry.api.trace.Tracer;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs model server stubs until ended. */
@Command(
    name = "stub",
    description = "Model servers without accelerators: the OpenAI API over an engine model.",
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class StubCommand implements Callable<Integer> {

  private static final int PORTS = 65_536;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      split = ",",
      description = "Where to listen, one server each. Port 0 takes a free one.",
      defaultValue = "0.0.0.0:8000")
  private List<HostPort> listen = List.of();

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "Instead of --listen: the port on all addresses.")
  private @Nullable Integer port;

  @Option(
      names = "--servers",
      paramLabel = "N",
      description = "So many servers, on the port that is named and those after it.",
      defaultValue = "1")
  private int servers = 1;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Threads that all servers share; by itself one per processor.")
  private int threads = Runtime.getRuntime().availableProcessors();

  @Option(
      names = "--model",
      paramLabel = "NAME",
      split = ",",
      description = "Model names that are served.",
      defaultValue = "llama-3.1-8b")
  private List<String> models = List.of();

  @Option(
      names = "--max-loras",
      paramLabel = "N",
      description =
          "LoRA on: models after the first are adapters, of which the engine holds N at once.",
      defaultValue = "0")
  private int maxLoras;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description =
          "How the server names itself in x-stub-endpoint; numbered when there are several.",
      defaultValue = "${env:POD_NAME:-stub}")
  private String name = "stub";

  @Option(
      names = "--engine",
      paramLabel = "NAME",
      description = "Whose metrics and manners: vllm or sglang.",
      defaultValue = "vllm")
  private String engine = "vllm";

  @Option(
      names = "--profile",
      paramLabel = "NAME",
      description = "Speed and size of the engine, e.g. h100-8b, l4-8b.",
      defaultValue = "h100-8b")
  private String profile = "h100-8b";

  @Option(
      names = "--profiles",
      paramLabel = "FILE",
      description = "Engine profiles of your own, for --profile to name beside those that ship.")
  private @Nullable Path profiles;

  @Option(
      names = "--engine-noise",
      description =
          "Steps take a little more or less than the profile says, batches as long as the next CUDA"
              + " graph, and the CPU its own time.")
  private boolean engineNoise;

  @Option(
      names = "--slowed-by",
      paramLabel = "FACTOR",
      description = "Makes every step take so many times as long; 1.4 is vLLM of 2025.",
      defaultValue = "1")
  private double slowedBy = 1;

  @Option(
      names = "--kv-tokens",
      paramLabel = "TOKENS",
      description = "Size of the KV cache, instead of the profile's.")
  private @Nullable Integer kvTokens;

  @Option(
      names = "--max-model-len",
      paramLabel = "TOKENS",
      description =
          "Longest context, prompt and answer together; by itself 131072, or what the KV cache holds.")
  private @Nullable Integer maxModelLen;

  @Option(
      names = "--enable-prompt-tokens-details",
      description =
          "Tell in usage how many tokens of a prompt were cached; without it vLLM doesn't.")
  private boolean promptTokensDetails;

  @Option(
      names = "--enable-auto-tool-choice",
      description = "Serve requests with tools; without it vLLM refuses them.")
  private boolean autoToolChoice;

  @Option(
      names = "--multimodal",
      description = "Serve prompts with images and the like, which text models refuse.")
  private boolean multimodal;

  @Option(
      names = "--api-overhead",
      description = "Add what a real API server takes: 15.6 ms and 46 us per output token.")
  private boolean apiOverhead;

  @Option(
      names = "--time-scale",
      paramLabel = "FACTOR",
      description = "Wall seconds per engine second; 0.1 is ten times as fast, 0 instant.",
      defaultValue = "1")
  private double timeScale = 1;

  @Option(
      names = "--shutdown-timeout",
      paramLabel = "SECONDS",
      description = "How long requests in flight may go on when ended; 0 aborts them.",
      defaultValue = "0")
  private int shutdownTimeout;

  @Option(
      names = "--body-hash",
      description = "Send the SHA-256 of each request body back as x-stub-body-sha256.")
  private boolean bodyHash;

  @Option(
      names = "--kv-events-port",
      paramLabel = "PORT",
      description =
          "Publish KV events over ZeroMQ as vLLM does, on this port; with several servers on those"
              + " after it, too.")
  private @Nullable Integer kvEventsPort;

  @Option(
      names = "--kv-events-replay-port",
      paramLabel = "PORT",
      description = "Where KV events of before are to be had, counted as --kv-events-port.")
  private @Nullable Integer kvReplayPort;

  @Option(
      names = "--kv-events-topic",
      paramLabel = "TEXT",
      description = "What each message of KV events begins with; by itself kv@NAME@MODEL.",
      defaultValue = "")
  private String kvEventsTopic = "";

  @Option(
      names = "--kv-events-form",
      paramLabel = "FORM",
      description = "How KV events are written: maps, as vLLM 0.32 does, or arrays, as before.",
      defaultValue = "maps")
  private String kvEventsForm = "maps";

  @Option(
      names = "--ssl-certfile",
      paramLabel = "FILE",
      description = "Serve over TLS, with this certificate in PEM and the key of --ssl-keyfile.")
  private @Nullable File certificate;

  @Option(
      names = "--ssl-keyfile",
      paramLabel = "FILE",
      description = "Key of the certificate, in PEM as PKCS#8.")
  private @Nullable File key;

  @Option(
      names = "--otlp-traces-endpoint",
      paramLabel = "URL",
      description = "Send a span of each completion that its caller traces to this collector.")
  private @Nullable String tracesEndpoint;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Tracing tracing = tracing();
    List<ModelServerConfig> configs = configs(tracing == null ? null : tracing.tracer());
    EventLoopGroup loops = new MultiThreadIoEventLoopGroup(threads, NioIoHandler.newFactory());
    List<ModelServer> started = new ArrayList<>();
    var told = new AtomicBoolean();
    var ended = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  told.set(true);
                  stop(started);
                  if (tracing != null) {
                    tracing.close();
                  }
                  ended.countDown();
                },
                "stub-shutdown"));
    for (ModelServerConfig config : configs) {
      ModelServer server = ModelServer.start(config, loops);
      started.add(server);
      if (servers == 1) {
        System.out.println(config.name() + " listens on " + server.url());
      }
    }
    if (servers > 1) {
      System.out.printf(
          "%s to %s listen on %s to %s, on %d threads%n",
          configs.getFirst().name(),
          configs.getLast().name(),
          at(started.getFirst()),
          at(started.getLast()),
          threads);
    }
    var all = started.stream().map(ModelServer::closed).toArray(CompletableFuture<?>[]::new);
    CompletableFuture.allOf(all).join();
    if (!told.get()) {
      System.err.println("every engine was killed on demand");
      return 1;
    }
    ended.await();
    return 0;
  }

  private static String at(ModelServer server) {
    return server.config().host() + ":" + server.address().getPort();
  }

  private void stop(List<ModelServer> started) {
    if (shutdownTimeout == 0) {
      started.forEach(ModelServer::close);
      return;
    }
    Duration timeout = Duration.ofSeconds(shutdownTimeout);
    CompletableFuture.allOf(
            started.stream()
                .map(
                    server ->
                        CompletableFuture.runAsync(
                            () -> server.drain(timeout), Thread::startVirtualThread))
                .toArray(CompletableFuture<?>[]::new))
        .join();
  }

  private @Nullable Tracing tracing() {
    String endpoint = tracesEndpoint;
    if (endpoint == null) {
      return null;
    }
    try {
      return Tracing.start(new Tracing.Settings("fairlead-stub", endpoint, null));
    } catch (IllegalArgumentException e) {
      throw wrong("--otlp-traces-endpoint: " + e.getMessage());
    }
  }

  private List<ModelServerConfig> configs(@Nullable Tracer tracer) throws IOException {
    List<HostPort> addresses = addresses();
    List<ModelServerConfig> configs = new ArrayList<>();
    try {
      EngineProfiles known = EngineProfiles.shipped();
      if (profiles != null) {
        known = known.with(EngineProfiles.read(InputText.name(profiles), InputText.read(profiles)));
      }
      EngineProfile speed = known.named(profile).slowedBy(slowedBy);
      if (kvTokens != null) {
        speed = speed.withKvTokens(kvTokens);
      }
      if (apiOverhead) {
        speed = speed.withApiOverhead();
      }
      SslContext tls = tls();
      for (int i = 0; i < addresses.size(); i++) {
        String serverName = addresses.size() == 1 ? name : name + "-" + i;
        ModelServerConfig.Builder config =
            ModelServerConfig.builder(serverName, models.toArray(String[]::new))
                .listen(addresses.get(i).host(), addresses.get(i).port())
                .engine(EngineKind.named(engine))
                .maxAdapters(maxLoras)
                .profile(speed)
                .imperfection(engineNoise ? Imperfection.REAL : Imperfection.NONE)
                .timeScale(timeScale)
                .promptTokensDetails(promptTokensDetails)
                .autoToolChoice(autoToolChoice)
                .multimodal(multimodal)
                .bodyHash(bodyHash)
                .kvEvents(kvEvents(i))
                .tls(tls)
                .tracer(tracer);
        configs.add((maxModelLen == null ? config : config.maxModelLen(maxModelLen)).build());
      }
    } catch (IllegalArgumentException e) {
      throw wrong(String.valueOf(e.getMessage()));
    }
    return configs;
  }

  private @Nullable KvEvents kvEvents(int server) {
    if (kvEventsPort == null) {
      GivenOptions.refuse(
          spec,
          List.of("--kv-events-replay-port", "--kv-events-topic", "--kv-events-form"),
          "needs --kv-events-port");
      return null;
    }
    KvEvents.Form form =
        switch (kvEventsForm) {
          case "maps" -> KvEvents.Form.MAPS;
          case "arrays" -> KvEvents.Form.ARRAYS;
          default ->
              throw wrong("--kv-events-form: is \"" + kvEventsForm + "\"; set maps or arrays");
        };
    KvEvents usual =
        KvEvents.on(
            numbered(kvEventsPort, server),
            kvReplayPort == null ? -1 : numbered(kvReplayPort, server));
    return new KvEvents(usual.port(), usual.replayPort(), kvEventsTopic, form, usual.bufferSteps());
  }

  /** Port 0 stays: each server takes a free one. */
  private static int numbered(int port, int server) {
    return port == 0 ? 0 : port + server;
  }

  private @Nullable SslContext tls() {
    if (certificate == null && key == null) {
      return null;
    }
    if (certificate == null || key == null) {
      throw wrong("--ssl-certfile and --ssl-keyfile need each other");
    }
    try {
      return SslContextBuilder.forServer(certificate, key).build();
    } catch (IllegalArgumentException | SSLException e) {
      throw wrong(
          "--ssl-certfile %s and --ssl-keyfile %s are not a PEM certificate and its key: %s"
              .formatted(certificate, key, e.getMessage()));
    }
  }

  private List<HostPort> addresses() {
    if (port != null) {
      GivenOptions.refuse(spec, List.of("--listen"), "goes without --port");
    }
    List<HostPort> named = port == null ? listen : List.of(new HostPort("0.0.0.0", port));
    if (threads < 1) {
      throw wrong("--threads: " + threads + " is not >= 1");
    }
    if (shutdownTimeout < 0) {
      throw wrong("--shutdown-timeout: " + shutdownTimeout + " is not >= 0");
    }
    if (servers == 1) {
      return named;
    }
    if (servers < 1 || named.size() > 1) {
      throw wrong("--servers: needs 1 or more, and a single address to count from");
    }
    HostPort first = named.getFirst();
    if (first.port() + servers > PORTS) {
      throw wrong("--servers: %d from port %d on is past 65535".formatted(servers, first.port()));
    }
    List<HostPort> addresses = new ArrayList<>();
    for (int i = 0; i < servers; i++) {
      addresses.add(new HostPort(first.host(), first.port() == 0 ? 0 : first.port() + i));
    }
    return addresses;
  }

  private ParameterException wrong(String problem) {
    return new ParameterException(spec.commandLine(), problem);
  }
}
