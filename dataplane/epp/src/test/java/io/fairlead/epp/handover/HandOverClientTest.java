package io.fairlead.epp.handover;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Follower;
import io.fairlead.core.HandOver;
import io.fairlead.core.PoolCore;
import io.fairlead.core.handover.Knowledge;
import io.fairlead.core.handover.News;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import javax.crypto.Mac;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a picker that starts makes of a peer, over real sockets; the peer's end is the test's. */
class HandOverClientTest {

  /** How long a picker waits for it. */
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  /**
   * Where it is to take a part of what there is, in that time: longer, also if all stands still.
   */
  private static final Duration LONG_PATIENCE = Duration.ofSeconds(6);

  /** Between two bytes of a peer that drips. */
  private static final Duration DRIP = Duration.ofMillis(400);

  private static final EndpointSpec A = new EndpointSpec("a", "1", "10.0.0.1", 8000, Map.of());
  private static final EndpointSpec B = new EndpointSpec("b", "1", "10.0.0.2", 8000, Map.of());

  @TempDir private Path temporary;

  private final PoolCore core = new PoolCore();
  private Path secret;

  @BeforeEach
  void share() throws IOException {
    secret = Files.writeString(temporary.resolve("secret"), "a secret that pickers share");
    core.endpoints(1, List.of(A, B));
  }

  /** Whichever part of what it says comes byte by byte: the time is for the whole. */
  @ParameterizedTest
  @ValueSource(strings = {"its number", "a length", "what shows who it is"})
  void aPeerThatDripsHoldsNobodyUpBeyondTheTime(String part) throws Exception {
    int number = 1 + SharedSecret.NONCE_BYTES;
    int atOnce =
        switch (part) {
          case "its number" -> 1;
          case "a length" -> number + 1;
          default -> number + 1 + Integer.BYTES;
        };
    int whole =
        switch (part) {
          case "its number" -> number;
          case "a length" -> number + 1 + Integer.BYTES + (1 << 9);
          default -> number + 1 + Integer.BYTES + SharedSecret.MAC_BYTES;
        };
    ByteBuffer all = ByteBuffer.allocate(1 << 10);
    all.put(Wire.CHALLENGE).put(new byte[SharedSecret.NONCE_BYTES]).put(Wire.TOLD);
    if (part.equals("a length")) {
      all.putInt(1 << 9); // and a frame
    }
    try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      AtomicInteger said = new AtomicInteger();
      Thread.ofVirtual().start(() -> drip(listening, all.array(), atOnce, said));

      HandOverResult result = client(listening, 0, PATIENCE).ask(() -> List.of(address(listening)));

      assertThat(result.state()).isEqualTo(HandOverResult.State.FAILED);
      assertThat(said)
          .as("of %s bytes of it, which take six seconds", whole)
          .hasValueLessThan(whole);
    }
  }

  private static void drip(ServerSocket listening, byte[] bytes, int atOnce, AtomicInteger said) {
    while (!listening.isClosed()) {
      try (Socket socket = listening.accept()) {
        socket.setTcpNoDelay(true);
        socket.getOutputStream().write(bytes, 0, atOnce);
        for (int at = atOnce; at < bytes.length; at++) {
          LockSupport.parkNanos(DRIP.toNanos());
          socket.getOutputStream().write(bytes[at]);
          said.accumulateAndGet(at + 1, Math::max);
        }
      } catch (IOException e) {
        // Who asked has left, or the test is over.
      }
    }
  }

  @Test
  void whatWasTakenBeforeTheTimeWasOverIsTold() throws Exception {
    try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> tell(listening));

      // What is of no endpoint, and the first endpoint with its prompt; then the loop is busy.
      HandOverResult result =
          client(listening, 2, LONG_PATIENCE).ask(() -> List.of(address(listening)));

      assertThat(result.state()).isEqualTo(HandOverResult.State.TAKEN);
      assertThat(result.from()).isEqualTo(address(listening));
      assertThat(result.endpoints()).isEqualTo(1);
      assertThat(result.prompts()).isEqualTo(1);
      assertThat(result.why()).contains("the time was over before all was taken");
    }
  }

  @Test
  void whereNothingWasTakenBeforeTheTimeWasOverThatIsTold() throws Exception {
    try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> tell(listening));

      HandOverResult result = client(listening, 0, PATIENCE).ask(() -> List.of(address(listening)));

      assertThat(result.state()).isEqualTo(HandOverResult.State.FAILED);
      assertThat(result.prompts()).isZero();
    }
  }

  /** Who got no answer in time asks again. */
  private void tell(ServerSocket listening) {
    while (!listening.isClosed()) {
      tellOnce(listening);
    }
  }

  /** Tells of two endpoints with a long prompt each, as a picker does that knows the secret. */
  private void tellOnce(ServerSocket listening) {
    try (Socket socket = listening.accept()) {
      DataInputStream in = new DataInputStream(socket.getInputStream());
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      in.readFully(new byte[Integer.BYTES + 1]);
      byte[] asker = new byte[SharedSecret.NONCE_BYTES];
      in.readFully(asker);
      byte[] own = new byte[SharedSecret.NONCE_BYTES];
      out.writeByte(Wire.CHALLENGE);
      out.write(own);
      in.readFully(new byte[SharedSecret.MAC_BYTES]);
      out.writeByte(Wire.TOLD);
      FrameWriter writer = new FrameWriter();
      writer.config("hash", "plain");
      for (EndpointSpec endpoint : List.of(A, B)) {
        writer.endpoint(endpoint, Double.NaN, 100_000);
        writer.part(1, -1, LongStream.range(1, 5_000).toArray());
        writer.held(1, 4_999);
      }
      byte[] frame = writer.take();
      Mac mac = SharedSecret.read(secret).over(Wire.Question.HAND_OVER.tells, asker, own);
      out.writeInt(frame.length);
      out.write(frame);
      out.writeInt(0);
      out.write(mac.doFinal(frame));
      in.readAllBytes();
    } catch (IOException e) {
      // Who asked has left, or the test is over.
    }
  }

  /** It may take minutes where name servers are silent, and nothing interrupts it. */
  @Test
  void aNameThatIsNotResolvedHoldsNobodyUp() throws Exception {
    CompletableFuture<List<String>> resolved = new CompletableFuture<>();
    try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      HandOverClient client = client(listening, 0, PATIENCE);
      CompletableFuture<HandOverResult> asked =
          CompletableFuture.supplyAsync(() -> client.ask(resolved::join));

      assertThat(asked)
          .succeedsWithin(PATIENCE.plusSeconds(20))
          .returns(HandOverResult.State.ALONE, HandOverResult::state)
          .returns("names are not resolved in time", HandOverResult::why);
    } finally {
      resolved.complete(List.of());
    }
  }

  private HandOverClient client(ServerSocket listening, int pieces, Duration patience) {
    return new HandOverClient(
        new HandOverSettings("127.0.0.1", 0, secret, List.of(address(listening)), patience),
        new Taking(pieces));
  }

  private static String address(ServerSocket listening) {
    return "127.0.0.1:" + listening.getLocalPort();
  }

  /** Takes so many pieces, and has no time for more. */
  private final class Taking implements HandOverPool {

    private int pieces;

    Taking(int pieces) {
      this.pieces = pieces;
    }

    @Override
    public Future<Boolean> take(Piece piece) {
      return pieces-- > 0
          ? CompletableFuture.completedFuture(piece.take(core.takeOver(), 1))
          : new CompletableFuture<>();
    }

    @Override
    public String configHash() {
      return "hash";
    }

    @Override
    public String hashing() {
      return "plain";
    }

    @Override
    public Future<Follower> follow() {
      throw new UnsupportedOperationException("only takes");
    }

    @Override
    public Future<News> news(Follower follower) {
      throw new UnsupportedOperationException("only takes");
    }

    @Override
    public void tells(long picker) {
      throw new UnsupportedOperationException("follows nobody");
    }

    @Override
    public Future<?> heard(long picker, News news) {
      throw new UnsupportedOperationException("follows nobody");
    }

    @Override
    public void silent(long picker) {
      throw new UnsupportedOperationException("follows nobody");
    }

    @Override
    public long number() {
      return 1;
    }

    @Override
    public void leave(Follower follower) {
      throw new UnsupportedOperationException("only takes");
    }

    @Override
    public Future<HandOver> begin(long mostBytes, Knowledge to) {
      throw new UnsupportedOperationException("only takes");
    }

    @Override
    public Future<Boolean> next(HandOver telling) {
      throw new UnsupportedOperationException("only takes");
    }

    @Override
    public void stop(HandOver telling) {
      throw new UnsupportedOperationException("only takes");
    }
  }
}
