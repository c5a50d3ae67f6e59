package io.fairlead.epp.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.prefix.PromptTokens;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.plugin.PromptTokenizer;
import io.netty.util.concurrent.DefaultEventExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PromptTokenizersTest {

  private static final int[] IDS = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};

  private final DefaultEventExecutor home = new DefaultEventExecutor();
  private final AtomicReference<Cutter> cutter = new AtomicReference<>((path, body) -> IDS);
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicLong copied = new AtomicLong();
  private final PromptTokenizers tokenizers =
      new PromptTokenizers(
          System::nanoTime, () -> List.of(folder -> folder.equals("gone") ? null : opened()));

  private interface Cutter {
    int @Nullable [] cut(String path, byte[] body) throws Exception;
  }

  private PromptTokenizer opened() {
    open.incrementAndGet();
    return new PromptTokenizer() {
      @Override
      public int @Nullable [] tokenize(String path, byte[] body) {
        try {
          return cutter.get().cut(path, body);
        } catch (RuntimeException e) {
          throw e;
        } catch (Exception e) {
          throw new IllegalStateException(e);
        }
      }

      @Override
      public void close() {
        open.decrementAndGet();
      }
    };
  }

  @AfterEach
  void stop() {
    tokenizers.close();
    home.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void aPromptIsCutByItsModelsTokenizer() throws Exception {
    AtomicReference<String> asked = new AtomicReference<>("");
    cutter.set(
        (path, body) -> {
          asked.set(path);
          return IDS;
        });
    configure("5s");

    PromptTokens tokens = cut("base").get(10, TimeUnit.SECONDS);

    assertThat(tokens).isNotNull();
    assertThat(tokens.count()).isEqualTo(17);
    assertThat(tokens.keys()).isEqualTo(PromptTokens.of(IDS, 16).keys());
    assertThat(asked).hasValue("/v1/completions");
    assertThat(tokenizers.of(TokenizerResult.DONE)).isEqualTo(1);
  }

  @Test
  void oneThatCanNotBeOpenedIsTriedAgain() throws Exception {
    AtomicInteger tries = new AtomicInteger();
    try (PromptTokenizers late =
        new PromptTokenizers(
            System::nanoTime,
            () -> List.of(folder -> tries.incrementAndGet() < 4 ? null : opened()),
            Duration.ofMillis(20))) {
      late.configured(compiled(List.of(events(), source("there", "5s"))));
      await().until(() -> late.knows("base"));
      assertThat(late.of(TokenizerResult.FAILED)).as("told once").isEqualTo(1);
    }
    await().until(() -> open.get() == 0);
  }

  @Test
  void oneThatCanNotBeOpenedIsTriedAgainWhenAConfigWantsItAnew() throws Exception {
    AtomicInteger tries = new AtomicInteger();
    try (PromptTokenizers late =
        new PromptTokenizers(
            System::nanoTime,
            () -> List.of(folder -> tries.incrementAndGet() == 1 ? null : opened()))) {
      late.configured(compiled(List.of(events(), source("there", "5s"))));
      await().until(() -> late.of(TokenizerResult.FAILED) == 1);
      late.configured(compiled(List.of(events(), source("there", "5s"))));
      await().until(() -> late.knows("base"));
    }
  }

  @Test
  void modelsAreKnownByTheirTargets() {
    configure("5s");

    assertThat(tokenizers.knows("base")).isTrue();
    assertThat(tokenizers.knows("french")).as("an adapter").isTrue();
    assertThat(tokenizers.knows("chat")).as("becomes base or french").isTrue();
    assertThat(tokenizers.knows("mixed")).as("may become another model").isFalse();
    assertThat(tokenizers.knows("other")).isFalse();
  }

  @Test
  void aRequestWaitsNoLongerThanTheTimeout() throws Exception {
    CountDownLatch late = new CountDownLatch(1);
    cutter.set(
        (path, body) -> {
          late.await();
          return IDS;
        });
    configure("20ms");

    assertThat(cut("base").get(10, TimeUnit.SECONDS)).isNull();
    late.countDown();

    assertThat(tokenizers.of(TokenizerResult.LATE)).isEqualTo(1);
    await().until(() -> tokenizers.seconds() > 0);
    assertThat(tokenizers.of(TokenizerResult.DONE)).isZero();
  }

  @Test
  void whatFailsOrIsNotKnownGoesOnWithout() throws Exception {
    configure("5s");
    cutter.set((path, body) -> null);
    assertThat(cut("base").get(10, TimeUnit.SECONDS)).isNull();
    assertThat(tokenizers.of(TokenizerResult.UNSUPPORTED)).isEqualTo(1);

    cutter.set(
        (path, body) -> {
          throw new IllegalStateException("broken");
        });
    assertThat(cut("base").get(10, TimeUnit.SECONDS)).isNull();
    assertThat(tokenizers.of(TokenizerResult.FAILED)).isEqualTo(1);

    cutter.set((path, body) -> IDS);
    assertThat(cut("base").get(10, TimeUnit.SECONDS)).isNotNull();
  }

  @Test
  void whereTooManyWaitTheNextGoOnWithoutAtOnce() throws Exception {
    CountDownLatch held = new CountDownLatch(1);
    cutter.set(
        (path, body) -> {
          held.await();
          return IDS;
        });
    configure("5s");

    for (int i = 0; tokenizers.of(TokenizerResult.BUSY) == 0; i++) {
      assertThat(i).isLessThan(1_000_000);
      var _ = cut("base");
    }

    assertThat(cut("base").get(10, TimeUnit.SECONDS)).as("at once").isNull();
    held.countDown();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, PromptTokenizers.MOST_BYTES})
  void aBodyIsNotCopiedWhereTooManyWait(int bytes) throws Exception {
    CountDownLatch held = new CountDownLatch(1);
    cutter.set(
        (path, body) -> {
          held.await();
          return IDS;
        });
    configure("5s");

    long taken = 0;
    for (; tokenizers.of(TokenizerResult.BUSY) == 0; taken++) {
      assertThat(taken).isLessThan(10_000);
      var _ = cut("base", bytes);
      home.submit(() -> {}).syncUninterruptibly();
    }
    assertThat(copied).hasValue((taken - 1) * bytes);
    held.countDown();
  }

  /** It would hold a thread for as long as it takes, and nobody would wait for it. */
  @Test
  void aBodyThatCanNotBeReadInTimeIsNotBegun() throws Exception {
    AtomicLong clock = new AtomicLong();
    AtomicLong nanosPerByte = new AtomicLong(50_000);
    cutter.set(
        (path, body) -> {
          clock.addAndGet(body.length * nanosPerByte.get());
          return IDS;
        });
    try (PromptTokenizers own = new PromptTokenizers(clock::get, () -> List.of(_ -> opened()))) {
      // As long as may be: real time passes for who waits, and one that is late is not begun.
      own.configured(compiled(List.of(events(), source("there", "5s"))));
      await().until(() -> own.knows("base"));
      assertThat(begins(own, 1 << 20)).as("nobody knows").isTrue();
      await().until(() -> own.seconds() > 1);
      assertThat(begins(own, 1 << 20)).isFalse();
      assertThat(own.of(TokenizerResult.LATE)).isPositive();
      assertThat(begins(own, 1 << 16)).as("a short one").isTrue();

      nanosPerByte.set(10);
      await().until(() -> begins(own, 1 << 14) && begins(own, 1 << 20));
    }
  }

  private boolean begins(PromptTokenizers own, int bytes) {
    return home.submit(
                () ->
                    own.cut("base", "/v1/completions", bytes, () -> new byte[bytes], home, _ -> {}))
            .syncUninterruptibly()
            .getNow()
        != null;
  }

  @Test
  void theShortestOfThoseThatWaitIsNext() throws Exception {
    CountDownLatch held = new CountDownLatch(1);
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    cutter.set(
        (path, body) -> {
          held.await();
          order.add(body.length);
          return IDS;
        });
    configure("5s");
    int threads = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    for (int i = 0; i < threads; i++) {
      assertThat(begins(tokenizers, 0)).isTrue();
    }
    assertThat(begins(tokenizers, 60_000)).isTrue();
    for (int i = 0; i < 100; i++) {
      assertThat(begins(tokenizers, 1 + i)).isTrue();
    }
    held.countDown();
    await().until(() -> order.size() == threads + 101);
    assertThat(order.indexOf(60_000)).isGreaterThanOrEqualTo(order.size() - threads);
  }

  @Test
  void aRequestThatIsWithdrawnIsNotTold() throws Exception {
    CountDownLatch began = new CountDownLatch(1);
    CountDownLatch held = new CountDownLatch(1);
    cutter.set(
        (path, body) -> {
          began.countDown();
          held.await();
          return IDS;
        });
    configure("5s");
    CompletableFuture<@Nullable PromptTokens> told = new CompletableFuture<>();
    Runnable withdraw =
        home.submit(
                () ->
                    tokenizers.cut(
                        "base", "/v1/completions", 0, () -> new byte[0], home, told::complete))
            .syncUninterruptibly()
            .getNow();

    began.await();
    home.submit(withdraw).syncUninterruptibly();
    held.countDown();
    await().until(() -> tokenizers.seconds() > 0);
    home.submit(() -> {}).syncUninterruptibly();

    assertThat(told).isNotDone();
    assertThat(tokenizers.of(TokenizerResult.DONE)).isZero();
  }

  @Test
  void aTokenizerIsClosedWhenTheConfigNamesItNoMore() {
    configure("5s");
    assertThat(open).hasValue(1);
    configure("5s");
    assertThat(open).hasValue(1);

    tokenizers.configured(compiled(List.of()));

    await().untilAsserted(() -> assertThat(open).hasValue(0));
    assertThat(tokenizers.knows("base")).isFalse();
  }

  @Test
  void aFolderThatNobodyReadsIsCountedAndItsPromptsGuessed() {
    tokenizers.configured(compiled(List.of(events(), source("gone", "5s"))));

    await().until(() -> tokenizers.of(TokenizerResult.FAILED) == 1);
    assertThat(tokenizers.knows("base")).isFalse();
  }

  private void configure(String timeout) {
    tokenizers.configured(compiled(List.of(events(), source("there", timeout))));
    await().until(() -> tokenizers.knows("base"));
  }

  private static PluginConfig events() {
    return new PluginConfig("events", "precise-prefix-cache-producer", Map.of());
  }

  private static PluginConfig source(String path, String timeout) {
    return new PluginConfig(
        "tokens",
        "token-producer",
        Map.of(
            "modelName", "base", "path", path, "adapters", List.of("french"), "timeout", timeout));
  }

  private static CompiledConfig compiled(List<PluginConfig> plugins) {
    List<ModelConfig> models =
        List.of(
            new ModelConfig(
                "chat",
                Criticality.STANDARD,
                List.of(new TargetModel("base", 1), new TargetModel("french", 1))),
            new ModelConfig(
                "mixed",
                Criticality.STANDARD,
                List.of(new TargetModel("base", 1), new TargetModel("other", 1))));
    return new ConfigCompiler(List.of())
        .compile(
            new PoolConfig(
                "default",
                "pool",
                Map.of("app", "m"),
                List.of(8000),
                "http",
                models,
                new SchedulerConfig(plugins, List.of(), null)));
  }

  private byte[] copied(int bytes) {
    copied.addAndGet(bytes);
    return new byte[0];
  }

  private CompletableFuture<@Nullable PromptTokens> cut(String model) {
    return cut(model, 0);
  }

  private CompletableFuture<@Nullable PromptTokens> cut(String model, int bytes) {
    CompletableFuture<@Nullable PromptTokens> tokens = new CompletableFuture<>();
    home.execute(
        () -> {
          Runnable taken =
              tokenizers.cut(
                  model, "/v1/completions?x=1", bytes, () -> copied(bytes), home, tokens::complete);
          if (taken == null) {
            tokens.complete(null);
          }
        });
    return tokens;
  }
}
