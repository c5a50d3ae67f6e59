package io.fairlead.epp.handover;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.HandOver;
import io.fairlead.core.PoolCore;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.handover.Knowledge;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.epp.PlainPool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One picker that tells and one that asks, over real sockets. */
class HandOverServerTest {

  private static final RequestListener NOBODY =
      new RequestListener() {
        @Override
        public void send(long request, Route route) {}

        @Override
        public void pass(long request) {}

        @Override
        public void reject(long request, Rejection rejection) {}
      };

  @TempDir private Path temporary;
  private Path secret;
  private final Pool knows = new Pool();

  @BeforeEach
  void share() throws IOException {
    secret = temporary.resolve("secret");
    Files.writeString(secret, "a secret that pickers share");
    knows.core.arrive(2, new RequestFacts("m", 1, new long[] {1, 2, 3}, 100, 10, 400), NOBODY);
  }

  private HandOverResult ask(HandOverServer server) {
    HandOverSettings settings =
        new HandOverSettings(
            "127.0.0.1",
            0,
            secret,
            List.of("127.0.0.1:" + server.port()),
            HandOverSettings.USUAL_PATIENCE);
    return new HandOverClient(settings, new Pool()).ask(settings::peers);
  }

  /** Pods that ran before it was replaced tell those that come afterwards. */
  @Test
  void anotherSecretCountsAsSoonAsTheFileHasIt() throws IOException {
    try (HandOverServer server =
        HandOverServer.start(
            new HandOverSettings("127.0.0.1", 0, secret, List.of(), Duration.ZERO), knows)) {
      assertThat(ask(server).state()).isEqualTo(HandOverResult.State.TAKEN);

      Files.writeString(secret, "another secret that they share now");
      HandOverResult after = ask(server);
      assertThat(after.state()).as(after.why()).isEqualTo(HandOverResult.State.TAKEN);
    }
  }

  /** A pool that tells and takes at once. */
  private static final class Pool implements HandOverPool {

    private final PoolCore core = new PoolCore();

    Pool() {
      core.configure(0, new ConfigCompiler(List.of()).compile(PlainPool.config()));
      core.endpoints(1, List.of(new EndpointSpec("a", "1", "10.0.0.1", 8000, Map.of())));
    }

    @Override
    public Future<HandOver> begin(long mostBytes, Knowledge to) {
      return CompletableFuture.completedFuture(core.handOver(mostBytes, to));
    }

    @Override
    public Future<Boolean> next(HandOver telling) {
      return CompletableFuture.completedFuture(telling.next(3));
    }

    @Override
    public void stop(HandOver telling) {
      telling.stop();
    }

    @Override
    public Future<Boolean> take(Piece piece) {
      return CompletableFuture.completedFuture(piece.take(core.takeOver(), 3));
    }

    @Override
    public String configHash() {
      return "hash";
    }

    @Override
    public String hashing() {
      return "plain";
    }
  }
}
