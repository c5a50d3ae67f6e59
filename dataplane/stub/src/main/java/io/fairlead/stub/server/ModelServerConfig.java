package io.fairlead.stub.server;

import io.fairlead.stub.engine.EngineProfile;
import io.fairlead.stub.engine.Imperfection;
import io.fairlead.stub.profile.EngineProfiles;
import io.netty.handler.ssl.SslContext;
import io.opentelemetry.api.trace.Tracer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link ModelServer} is. Start from {@link #builder}.
 *
 * @param name sent back as {@code x-stub-endpoint}, so that a test knows who answered
 * @param pod sent back as {@code x-stub-pod}
 * @param host address to listen on
 * @param port port to listen on; 0 takes a free one
 * @param models served model names, at least one; the first labels the metrics
 * @param engine whose metrics and manners the server has
 * @param maxAdapters how many of the other models, which are LoRA adapters then, the engine holds
 *     at once; 0 without LoRA
 * @param profile speed and size of the engine
 * @param imperfection what keeps the engine from being exactly as fast as that
 * @param timeScale wall seconds per engine second: 1 is true to the profile, 0.1 ten times as fast,
 *     0 instant
 * @param maxBodyBytes longest request body
 * @param defaultMaxTokens output tokens of a request that does not say
 * @param maxModelLen tokens of the longest context, prompt and answer together; no more than fit
 *     into the KV cache
 * @param promptTokensDetails whether usage tells how many tokens of a prompt were cached; vLLM
 *     tells it only with {@code --enable-prompt-tokens-details}
 * @param autoToolChoice whether requests with tools are served; vLLM serves them only with {@code
 *     --enable-auto-tool-choice}
 * @param multimodal whether prompts may hold images and the like
 * @param bodyHash whether to send the SHA-256 of the received body back as {@code
 *     x-stub-body-sha256}
 * @param kvEvents where it tells of its KV cache; null for nowhere
 * @param tls for the port; null for plain text
 * @param tracer makes a span for each completion that its caller traces; null for none
 */
public record ModelServerConfig(
    String name,
    String pod,
    String host,
    int port,
    List<String> models,
    EngineKind engine,
    int maxAdapters,
    EngineProfile profile,
    Imperfection imperfection,
    double timeScale,
    int maxBodyBytes,
    int defaultMaxTokens,
    int maxModelLen,
    boolean promptTokensDetails,
    boolean autoToolChoice,
    boolean multimodal,
    boolean bodyHash,
    @Nullable KvEvents kvEvents,
    @Nullable SslContext tls,
    @Nullable Tracer tracer) {

  private static final int USUAL_MODEL_LEN = 131_072;

  public ModelServerConfig {
    models = List.copyOf(models);
    if (name.isBlank()) {
      throw new IllegalArgumentException("name: is blank");
    }
    if (models.isEmpty() || models.stream().anyMatch(String::isBlank)) {
      throw new IllegalArgumentException("models: " + models + " needs at least one, none blank");
    }
    if (maxAdapters < 0) {
      throw new IllegalArgumentException("maxAdapters: " + maxAdapters + " is not >= 0");
    }
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("port: " + port + " is not in 0..65535");
    }
    if (!(timeScale >= 0) || Double.isInfinite(timeScale)) {
      throw new IllegalArgumentException("timeScale: " + timeScale + " is not a number >= 0");
    }
    if (maxBodyBytes < 1) {
      throw new IllegalArgumentException("maxBodyBytes: " + maxBodyBytes + " is not >= 1");
    }
    if (defaultMaxTokens < 1) {
      throw new IllegalArgumentException("defaultMaxTokens: " + defaultMaxTokens + " is not >= 1");
    }
    if (maxModelLen < 1 || maxModelLen > tokens(profile)) {
      throw new IllegalArgumentException(
          "maxModelLen: %d is not in 1..%d, which the KV cache holds"
              .formatted(maxModelLen, tokens(profile)));
    }
  }

  private static int tokens(EngineProfile profile) {
    return profile.blocks() * profile.blockTokens();
  }

  /**
   * A server of {@code models} on a free loopback port, as fast as one H100, with everything else
   * as usual.
   */
  public static Builder builder(String name, String... models) {
    return new Builder(name, List.of(models));
  }

  /** Collects what differs from the usual. */
  public static final class Builder {

    private final String name;
    private final List<String> models;
    private String pod;
    private String host = "127.0.0.1";
    private int port;
    private EngineKind engine = EngineKind.VLLM;
    private int maxAdapters;
    private EngineProfile profile = EngineProfiles.shipped().named("h100-8b");
    private Imperfection imperfection = Imperfection.NONE;
    private double timeScale = 1;
    private int maxBodyBytes = 64 << 20;
    private int defaultMaxTokens = 16;
    private @Nullable Integer maxModelLen;
    private boolean promptTokensDetails;
    private boolean autoToolChoice;
    private boolean multimodal;
    private boolean bodyHash;
    private @Nullable KvEvents kvEvents;
    private @Nullable SslContext tls;
    private @Nullable Tracer tracer;

    private Builder(String name, List<String> models) {
      this.name = name;
      this.models = models;
      this.pod = name;
    }

    public Builder pod(String pod) {
      this.pod = pod;
      return this;
    }

    public Builder listen(String host, int port) {
      this.host = host;
      this.port = port;
      return this;
    }

    public Builder engine(EngineKind engine) {
      this.engine = engine;
      return this;
    }

    /** All models but the first are LoRA adapters; the engine holds so many at once. */
    public Builder maxAdapters(int maxAdapters) {
      this.maxAdapters = maxAdapters;
      return this;
    }

    public Builder profile(EngineProfile profile) {
      this.profile = profile;
      return this;
    }

    /** The engine is not exactly as fast as its profile; the noise is another for another name. */
    public Builder imperfection(Imperfection imperfection) {
      this.imperfection = imperfection;
      return this;
    }

    public Builder timeScale(double timeScale) {
      this.timeScale = timeScale;
      return this;
    }

    /** Answers as fast as the machine can; the engine still batches and caches, in virtual time. */
    public Builder instant() {
      return timeScale(0);
    }

    public Builder maxBodyBytes(int maxBodyBytes) {
      this.maxBodyBytes = maxBodyBytes;
      return this;
    }

    public Builder defaultMaxTokens(int defaultMaxTokens) {
      this.defaultMaxTokens = defaultMaxTokens;
      return this;
    }

    /** The longest context; by itself that of Llama 3.1, or what the KV cache holds if less. */
    public Builder maxModelLen(int maxModelLen) {
      this.maxModelLen = maxModelLen;
      return this;
    }

    /** Usage tells how many tokens of a prompt were cached. */
    public Builder promptTokensDetails(boolean promptTokensDetails) {
      this.promptTokensDetails = promptTokensDetails;
      return this;
    }

    /** Requests with tools are served. */
    public Builder autoToolChoice(boolean autoToolChoice) {
      this.autoToolChoice = autoToolChoice;
      return this;
    }

    /** Prompts may hold images and the like. */
    public Builder multimodal(boolean multimodal) {
      this.multimodal = multimodal;
      return this;
    }

    public Builder bodyHash(boolean bodyHash) {
      this.bodyHash = bodyHash;
      return this;
    }

    /** Tells of its KV cache. */
    public Builder kvEvents(@Nullable KvEvents kvEvents) {
      this.kvEvents = kvEvents;
      return this;
    }

    /** Protects the port. */
    public Builder tls(@Nullable SslContext tls) {
      this.tls = tls;
      return this;
    }

    /** Makes a span for each completion. */
    public Builder tracer(@Nullable Tracer tracer) {
      this.tracer = tracer;
      return this;
    }

    public ModelServerConfig build() {
      return new ModelServerConfig(
          name,
          pod,
          host,
          port,
          models,
          engine,
          maxAdapters,
          profile,
          imperfection,
          timeScale,
          maxBodyBytes,
          defaultMaxTokens,
          maxModelLen == null ? Math.min(USUAL_MODEL_LEN, tokens(profile)) : maxModelLen,
          promptTokensDetails,
          autoToolChoice,
          multimodal,
          bodyHash,
          kvEvents,
          tls,
          tracer);
    }
  }
}
