package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.code_intelligence.jazzer.api.BugDetectors;
import com.code_intelligence.jazzer.api.SilentCloseable;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.RawHttp;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http2.Http2CodecUtil;
import java.io.IOException;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;

/** Whatever frames a client sends: the connection ends, nothing stays, others are served. */
@ExtendWith(NoLeaks.class)
@SuppressWarnings("NullAway.Init") // set up before all
class Http2IntakeFuzz {

  private static final byte[] PREFACE = ByteBufUtil.getBytes(Http2CodecUtil.connectionPrefaceBuf());
  private static final byte[] NO_SETTINGS = {0, 0, 0, 4, 0, 0, 0, 0, 0};

  private static Rig rig;

  @BeforeAll
  static void start() {
    rig = new Rig(Rig.config());
  }

  @AfterAll
  static void stop() throws IOException {
    rig.close();
  }

  @FuzzTest
  void anyFrames(byte[] frames) throws IOException {
    // Else the fuzzer takes the client's own connection for what its input brought about.
    try (SilentCloseable _ = BugDetectors.allowNetworkConnections()) {
      send(frames);
    }
  }

  private static void send(byte[] frames) throws IOException {
    try (RawHttp client = rig.connect()) {
      client.send(PREFACE);
      client.send(NO_SETTINGS);
      client.send(frames);
      client.socket.shutdownOutput();
      assertThat(client.rest()).isNotNull();
    } catch (IOException e) {
      assertThat(e).isNotInstanceOf(SocketTimeoutException.class); // cut off is fine
    }
    await().until(() -> rig.pool.active().get() == 0 && rig.bodies.used() == 0);
    try (RawHttp other = rig.connect()) {
      other.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(other.read().status()).isEqualTo(200);
    }
  }
}
