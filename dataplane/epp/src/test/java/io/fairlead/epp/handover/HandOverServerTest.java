package io.fairlead.epp.handover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Follower;
import io.fairlead.core.HandOver;
import io.fairlead.core.PoolCore;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.external.RequestBrief;
import io.fairlead.core.handover.Knowledge;
import io.fairlead.core.handover.News;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.testing.FreePort;
import io.fairlead.epp.PlainPool;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
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

  /** Of a prompt of three blocks: its last token is always computed. */
  private static final int ALL_OF_THREE = 3 * 16 - 1;

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
            "127.0.0.1", 0, secret, List.of("127.0.0.1:" + server.port()), Duration.ofSeconds(30));
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

  /** What was sent before it is handed over at the start; what comes later is told. */
  @Test
  void whoFollowsIsToldWhatIsSentFromThenOn() throws IOException {
    Pool follows = new Pool();
    try (HandOverServer server = HandOverServer.start(settings(0, List.of()), knows);
        Following following = follow(server.port(), follows)) {
      await().until(() -> !following.telling().isEmpty());
      assertThat(following.telling()).containsExactly("127.0.0.1:" + server.port());

      knows.send(7, 8, 9);
      await().until(() -> following.prompts() == 1);
      assertThat(follows.held(7, 8, 9)).isEqualTo(ALL_OF_THREE);
      assertThat(follows.held(1, 2, 3)).as("sent before it followed").isZero();

      knows.send(7, 8, 9, 10);
      await().until(() -> following.prompts() == 2);
      assertThat(follows.held(7, 8, 9, 10)).isEqualTo(4 * 16 - 1);
    }
    await("it has left").until(() -> knows.followers.isEmpty());
  }

  /** A picker that is started again comes back at its address. */
  @Test
  void whoFollowsComesBackToOneThatWasAway() throws IOException {
    Pool follows = new Pool();
    int port = FreePort.find();
    HandOverServer first = HandOverServer.start(settings(port, List.of()), knows);
    try (Following following = follow(port, follows)) {
      await().until(() -> !following.telling().isEmpty());
      first.close();
      await().until(() -> following.telling().isEmpty());

      Pool again = new Pool();
      try (HandOverServer second = HandOverServer.start(settings(port, List.of()), again)) {
        assertThat(second.port()).isEqualTo(port);
        await().until(() -> !following.telling().isEmpty());
        again.send(7, 8, 9);
        await().until(() -> follows.held(7, 8, 9) == ALL_OF_THREE);
      }
    }
  }

  /**
   * It would be told twice, and what one way tells late would count after the other has ended it.
   */
  @Test
  void whoHasTwoAddressesIsHeardOnce() throws IOException {
    Pool follows = new Pool();
    try (HandOverServer server = HandOverServer.start(settings(0, List.of()), knows);
        Following following =
            new Following(
                settings(0, List.of()),
                follows,
                () -> List.of("127.0.0.1:" + server.port(), "localhost:" + server.port()))) {
      following.start();
      await().until(() -> !following.telling().isEmpty());
      await()
          .during(Duration.ofSeconds(2))
          .until(() -> following.telling().size() == 1 && knows.followers.size() <= 2);
      knows.send(7, 8, 9);
      await().until(() -> following.prompts() == 1);
    }
  }

  @Test
  void othersAreHeardAfterALookAtWhoIsThereHasThrown() throws IOException {
    AtomicBoolean thrown = new AtomicBoolean();
    try (HandOverServer server = HandOverServer.start(settings(0, List.of()), knows);
        Following following =
            new Following(
                settings(0, List.of()),
                new Pool(),
                () -> {
                  if (!thrown.getAndSet(true)) {
                    throw new IllegalStateException("of the test");
                  }
                  return List.of("127.0.0.1:" + server.port());
                })) {
      following.start();
      await().until(() -> !following.telling().isEmpty());
    }
  }

  /** It drains: what it has in flight counts until it is over. */
  @Test
  void whoIsListedNoMoreIsHeardUntilItEnds() throws IOException {
    Pool follows = new Pool();
    AtomicReference<List<String>> listed = new AtomicReference<>();
    HandOverServer server = HandOverServer.start(settings(FreePort.find(), List.of()), knows);
    listed.set(List.of("127.0.0.1:" + server.port()));
    try (Following following = new Following(settings(0, List.of()), follows, listed::get)) {
      following.start();
      await().until(() -> !following.telling().isEmpty());
      listed.set(List.of());
      await().during(Duration.ofSeconds(2)).until(() -> following.telling().size() == 1);
      knows.send(7, 8, 9);
      await().until(() -> following.prompts() == 1);
      server.close();
      await().until(() -> following.telling().isEmpty());

      Pool again = new Pool();
      try (HandOverServer second =
          HandOverServer.start(settings(server.port(), List.of()), again)) {
        assertThat(second.port()).isEqualTo(server.port());
        await("it is asked no more")
            .during(Duration.ofSeconds(2))
            .until(() -> following.telling().isEmpty());
      }
    }
  }

  @Test
  void whoDoesNotKnowTheSecretIsToldNothing() throws IOException {
    Path other = Files.writeString(temporary.resolve("other"), "another secret than theirs");
    try (HandOverServer server = HandOverServer.start(settings(0, List.of()), knows);
        Following stranger =
            new Following(
                new HandOverSettings("127.0.0.1", 0, other, List.of(), Duration.ZERO),
                new Pool(),
                () -> List.of("127.0.0.1:" + server.port()));
        Following following = follow(server.port(), new Pool())) {
      stranger.start();
      await().until(() -> !following.telling().isEmpty());
      knows.send(7, 8, 9);
      await().until(() -> following.prompts() == 1);
      assertThat(stranger.telling()).isEmpty();
      assertThat(stranger.prompts()).isZero();
      assertThat(knows.followers).hasSize(1);
    }
  }

  /** Nothing of a frame that somebody has changed on its way is taken. */
  @Test
  void nothingIsTakenOfWhatWasChangedOnItsWay() throws IOException {
    Pool follows = new Pool();
    try (HandOverServer server = HandOverServer.start(settings(0, List.of()), knows);
        Changing between = new Changing(server.port());
        Following following = follow(between.port(), follows)) {
      await().until(() -> !following.telling().isEmpty());
      between.changes = true;
      knows.send(7, 8, 9);
      await().until(() -> following.telling().isEmpty());
      assertThat(following.prompts()).isZero();
    }
  }

  /** Passes on what two say to each other, and changes a bit of what the answering one says. */
  private static final class Changing implements AutoCloseable {

    private final ServerSocket listening =
        new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private volatile boolean changes;

    Changing(int port) throws IOException {
      Thread.ofVirtual()
          .start(
              () -> {
                while (!listening.isClosed()) {
                  try {
                    Socket asker = listening.accept();
                    Socket teller = new Socket(InetAddress.getLoopbackAddress(), port);
                    Thread.ofVirtual().start(() -> pass(asker, teller, false));
                    Thread.ofVirtual().start(() -> pass(teller, asker, true));
                  } catch (IOException e) {
                    // The test is over.
                  }
                }
              });
    }

    int port() {
      return listening.getLocalPort();
    }

    private void pass(Socket from, Socket to, boolean told) {
      byte[] bytes = new byte[8_192];
      try (from;
          to) {
        for (int count; (count = from.getInputStream().read(bytes)) > 0; ) {
          if (told && changes && count > Integer.BYTES + SharedSecret.MAC_BYTES) {
            bytes[count / 2] ^= 1;
          }
          to.getOutputStream().write(bytes, 0, count);
        }
      } catch (IOException e) {
        // One of the two has left.
      }
    }

    @Override
    public void close() throws IOException {
      listening.close();
    }
  }

  private HandOverSettings settings(int port, List<String> peers) {
    return new HandOverSettings("127.0.0.1", port, secret, peers, Duration.ZERO);
  }

  private Following follow(int port, Pool pool) {
    Following following =
        new Following(settings(0, List.of()), pool, () -> List.of("127.0.0.1:" + port));
    following.start();
    return following;
  }

  /** A pool that tells and takes at once. */
  private static final class Pool implements HandOverPool {

    private static final AtomicLong NUMBERS = new AtomicLong();

    private final PoolCore core = new PoolCore();
    private final long number = NUMBERS.incrementAndGet();

    Pool() {
      core.configure(0, new ConfigCompiler(List.of()).compile(PlainPool.config()));
      core.endpoints(1, List.of(new EndpointSpec("a", "1", "10.0.0.1", 8000, Map.of())));
    }

    private final Set<Follower> followers = ConcurrentHashMap.newKeySet();

    synchronized void send(long... blocks) {
      core.arrive(
          2, new RequestFacts("m", 1, blocks, blocks.length * 16, 10, blocks.length * 64L), NOBODY);
    }

    /** Tokens of a prompt that its endpoint is believed to hold. */
    synchronized int held(long... blocks) {
      RequestBrief brief =
          core.brief(
              3, new RequestFacts("m", 1, blocks, blocks.length * 16, 10, blocks.length * 64L));
      return brief == null ? 0 : Arrays.stream(brief.cachedTokens()).max().orElse(0);
    }

    @Override
    public synchronized Future<Follower> follow() {
      Follower follower = core.follow();
      followers.add(follower);
      return CompletableFuture.completedFuture(follower);
    }

    @Override
    public synchronized Future<News> news(Follower follower) {
      return CompletableFuture.completedFuture(follower.take(3));
    }

    @Override
    public synchronized void tells(long picker) {
      core.tells(picker);
    }

    @Override
    public synchronized Future<?> heard(long picker, News news) {
      core.heard(3, picker, news);
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public synchronized void silent(long picker) {
      core.silent(3, picker);
    }

    @Override
    public long number() {
      return number;
    }

    @Override
    public synchronized void leave(Follower follower) {
      core.leave(follower);
      followers.remove(follower);
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
    public synchronized Future<Boolean> take(Piece piece) {
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
