package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.epp.DataPlaneConfig.ExtProc;
import io.fairlead.epp.DataPlaneConfig.Gateway;
import io.fairlead.epp.DataPlaneConfig.Listen;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What keeps a picker from its start is named, with what is wrong with it. */
@ExtendWith(NoLeaks.class)
class StartFailuresIT {

  private static final String HOST = "127.0.0.1";

  @TempDir private Path folder;

  private DataPlaneConfig.Builder builder() {
    return DataPlaneConfig.builder(new DataPlaneConfig.Folder(folder)).loops(1);
  }

  private static Gateway gateway(int port, @Nullable Path pair) {
    return new Gateway(new Listen(HOST, port), 1 << 20, Duration.ZERO, pair, 10);
  }

  @ParameterizedTest
  @CsvSource({
    "gateway, the gateway",
    "admin, metrics and health",
    "ext_proc, ext_proc",
    "health, gRPC health"
  })
  void whyAPortCannotBeListenedOnIsSaid(String which, String what) throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = taken.getLocalPort();
      DataPlaneConfig.Builder builder = builder();
      switch (which) {
        case "gateway" -> builder.gateway(gateway(port, null));
        case "admin" -> builder.admin(HOST, port);
        case "ext_proc" -> builder.extProc(extProc(port));
        default -> builder.extProc(extProc(0)).health(HOST, port);
      }
      assertThatThrownBy(() -> DataPlane.start(builder.build()))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith(what + " can't listen on 127.0.0.1:" + port + ": ")
          .hasMessageEndingWith("Address already in use");
    }
  }

  private static ExtProc extProc(int port) {
    return new ExtProc(new Listen(HOST, port), false, null, 1 << 20);
  }

  /** Whoever mistyped it would wait for a picker that waits for a file. */
  @Test
  void aFolderOrFileThatIsNotThereIsNamed() throws Exception {
    Path missing = folder.resolve("missing");
    Path there = Files.writeString(folder.resolve("endpoints.yaml"), "endpoints: []");
    for (DataPlaneConfig.Source source :
        List.of(
            new DataPlaneConfig.Folder(missing),
            new DataPlaneConfig.Files(missing, null),
            new DataPlaneConfig.Files(there, missing))) {
      DataPlaneConfig config =
          DataPlaneConfig.builder(source).loops(1).gateway(gateway(0, null)).build();
      assertThatThrownBy(() -> DataPlane.start(config))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(missing + ": there is no such file or folder");
    }
  }

  /** The port has nothing to do with it. */
  @Test
  void aPairThatTheGatewayCannotUseIsNamed() throws Exception {
    Path pair = Files.createDirectory(folder.resolve("pair"));
    Files.writeString(pair.resolve("tls.crt"), "none");
    Files.writeString(pair.resolve("tls.key"), "none");
    assertThatThrownBy(() -> DataPlane.start(builder().gateway(gateway(0, pair)).build()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("cert-path: " + pair.resolve("tls.crt") + " and ");
  }
}
