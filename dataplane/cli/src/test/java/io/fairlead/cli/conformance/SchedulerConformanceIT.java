package io.fairlead.cli.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.cli.conformance.FaultyScheduler.Fault;
import io.fairlead.scheduler.example.ExampleScheduler;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The kit lets a scheduler pass that does as it should, and each case can fail. */
final class SchedulerConformanceIT {

  @TempDir private Path temporary;

  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

  @AfterEach
  void stop() {
    loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  @ParameterizedTest
  @ValueSource(strings = {"socket", "port"})
  void theExampleInJavaPasses(String where) throws Exception {
    String socket = "unix:" + temporary.resolve("scheduler.sock");
    Server server = ExampleScheduler.start(where.equals("socket") ? socket : "0", loops);
    try {
      String address = where.equals("socket") ? socket : "localhost:" + server.getPort();
      StringWriter out = new StringWriter();
      int code = command(out, address, "--timeout", "10000"); // a busy machine is late, too
      assertThat(out.toString()).contains("reconnect", "23 of 23 cases passed, 0 failed");
      assertThat(code).isZero();
    } finally {
      server.shutdownNow().awaitTermination();
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyCaseCanFail(Fault fault) throws Exception {
    Path socket = temporary.resolve("scheduler.sock");
    try (FaultyScheduler faulty = new FaultyScheduler(fault)) {
      NettyServerBuilder builder =
          NettyServerBuilder.forAddress(UnixDomainSocketAddress.of(socket))
              .bossEventLoopGroup(loops)
              .workerEventLoopGroup(loops)
              .channelType(NioServerDomainSocketChannel.class)
              .directExecutor()
              .addService(faulty);
      if (fault != Fault.HAS_NO_HEALTH) {
        builder.addService(new HealthStatusManager().getHealthService());
      }
      Server server = builder.build().start();
      Files.setPosixFilePermissions(
          socket,
          PosixFilePermissions.fromString(
              fault == Fault.CLOSES_ITS_SOCKET ? "rwxr-xr-x" : "rwxrwxrwx"));
      try (SchedulerUnderTest scheduler =
          SchedulerUnderTest.at(
              "unix:" + socket, false, null, Duration.ofMillis(20), Duration.ofSeconds(1))) {
        List<CaseResult> results = new SchedulerCases(scheduler, Set.of(fault.failing)).run();
        assertThat(results).hasSize(1);
        assertThat(results.getFirst().problem()).isNotEmpty().doesNotContain("null");
        assertThat(results.getFirst().verdict())
            .isEqualTo(results.getFirst().required() ? "FAIL" : "warn");
      } finally {
        server.shutdownNow().awaitTermination();
      }
    }
  }

  @Test
  void noCaseIsWithoutAFault() throws Exception {
    Server server = ExampleScheduler.start("0", loops);
    try (SchedulerUnderTest scheduler =
        SchedulerUnderTest.at(
            "localhost:" + server.getPort(),
            false,
            null,
            Duration.ofMillis(20),
            SchedulerConformanceCommand.PATIENCE)) {
      assertThat(new SchedulerCases(scheduler, Set.of()).run())
          .extracting(CaseResult::name)
          .containsExactlyInAnyOrderElementsOf(
              Arrays.stream(Fault.values())
                  .map(fault -> fault.failing)
                  .collect(Collectors.toSet()));
    } finally {
      server.shutdownNow().awaitTermination();
    }
  }

  @Test
  void nobodyThereIsAFailure() {
    StringWriter out = new StringWriter();
    assertThat(command(out, "unix:" + temporary.resolve("nobody"), "--case", "hello")).isEqualTo(1);
    assertThat(out.toString()).contains("FAIL", "hello: the stream broke: UNAVAILABLE");
  }

  private static int command(StringWriter out, String address, String... more) {
    CommandLine line = new CommandLine(new ConformanceCommand());
    line.setOut(new PrintWriter(out));
    List<String> arguments = new ArrayList<>(List.of("scheduler", "--address", address));
    arguments.addAll(List.of(more));
    return line.execute(arguments.toArray(String[]::new));
  }
}
