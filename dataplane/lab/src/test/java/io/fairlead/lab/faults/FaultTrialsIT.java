package io.fairlead.lab.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.crds.config.Criticality;
import io.fairlead.epp.DataPlane;
import io.fairlead.epp.DataPlaneConfig;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Short trials of real servers; of the ways, one is the gateway in this process. */
final class FaultTrialsIT {

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  @TempDir private Path work = Path.of("");

  /** Our gateway, on ports of its own. */
  private record InProcess(String name) implements Way {

    @Override
    public Started start(PoolFiles files) throws InterruptedException {
      DataPlane plane =
          DataPlane.start(
              DataPlaneConfig.builder(new DataPlaneConfig.Folder(files.folder()))
                  .gateway("127.0.0.1", 0)
                  .admin("127.0.0.1", 0)
                  .build());
      try {
        plane.ready().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      } catch (ExecutionException | TimeoutException e) {
        plane.close();
        throw new IllegalStateException("not ready: " + plane.notReady(), e);
      }
      return new Started() {
        @Override
        public URI url() {
          return URI.create("http://127.0.0.1:" + plane.gatewayPort().orElseThrow());
        }

        @Override
        public URI metrics() {
          return URI.create("http://127.0.0.1:" + plane.adminPort().orElseThrow() + "/metrics");
        }

        @Override
        public void close() {
          plane.close();
        }
      };
    }
  }

  @Test
  void countsWhatClientsAndServersNoticeOfAFault() throws Exception {
    Finding found = only(scenario("half-sick", 2), new InProcess("gateway"));

    assertThat(found.requests()).isBetween(100L, 260L);
    assertThat(found.servers()).isEqualTo(8);
    assertThat(found.first().requests() + found.later().requests()).isPositive();
    assertThat(found.kinds().keySet()).isSubsetOf("500", "502", "503", "504", "incomplete");
    assertThat(found.failed())
        .isEqualTo(found.kinds().values().stream().mapToLong(Long::longValue).sum());
    assertThat(found.firstByteP50Ms()).isPositive();
    assertThat(found.sent()).hasSize(8);
    assertThat(found.sent().values().stream().flatMap(List::stream).mapToLong(n -> n).sum())
        .as("sends, retries among them")
        .isGreaterThan(found.requests() / 2);
  }

  @Test
  void endpointsLeaveAndComeBack() throws Exception {
    // Prompts that share nothing: those that do go to who has seen their like, and not to who left.
    Load apart = new Load(20, 1, 0.5, 0, 16, Criticality.STANDARD, 0);
    Finding found = only(scenario("removed-and-back", 5).with(apart), new InProcess("gateway"));

    assertThat(found.failed()).isZero();
    assertThat(found.usedAgainSeconds()).isNotNull();
    assertThat(found.leastSickShare()).isPositive();
  }

  /** Two programs, of which the second gets the requests and the first nothing but its ports. */
  @Test
  void programsAreStartedInOrderAndEnded() throws Exception {
    String listen =
        "python3 -c \"import http.server as h; h.ThreadingHTTPServer(('127.0.0.1', {%s}),"
            + " h.SimpleHTTPRequestHandler).serve_forever()\"";
    Path record = work.resolve("started");
    Way way =
        new CommandWay(
            "two",
            List.of(
                listen.formatted("grpc") + " {metrics}",
                "sh -c 'echo {endpoints} {grpc} > "
                    + record
                    + "; exec \"$@\"' sh "
                    + listen.formatted("port")),
            Duration.ofSeconds(2));
    PoolFiles files = new PoolFiles(Files.createDirectory(work.resolve("home")));

    assertThatThrownBy(() -> way.start(files))
        .as("it listens nowhere for metrics")
        .isInstanceOf(IOException.class);
    Way good =
        new CommandWay(
            "two",
            List.of(
                listen.formatted("grpc"),
                "sh -c 'echo {endpoints} {grpc} > "
                    + record
                    + "; exec \"$@\"' sh "
                    + listen.formatted("port")),
            PATIENCE);
    URI url;
    try (Way.Started started = good.start(files)) {
      url = started.url();
      assertThat(url.toURL().openConnection().getContentLength()).isPositive();
      assertThat(Files.readString(record)).startsWith(files.endpoints() + " ");
    }
    assertThatThrownBy(() -> url.toURL().openStream()).isInstanceOf(IOException.class);
  }

  @Test
  void aProgramThatEndsAtOnceIsToldWithWhatItSaid() throws Exception {
    Way way =
        new CommandWay("broken", List.of("sh -c 'echo no such flag; exit 3' {port}"), PATIENCE);
    PoolFiles files = new PoolFiles(Files.createDirectory(work.resolve("home")));

    assertThatThrownBy(() -> way.start(files))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("broken: nothing listens at {port} of: sh -c")
        .hasMessageEndingWith("no such flag");
  }

  private static Scenario scenario(String fault, double during) {
    return phases(during).all().stream()
        .filter(each -> each.name().equals(fault))
        .findFirst()
        .orElseThrow();
  }

  private static Scenarios phases(double during) {
    return new Scenarios(60, 0.5, during, 0.5);
  }

  private Finding only(Scenario scenario, Way way) throws IOException, InterruptedException {
    var options =
        new FaultsOptions(
            Map.of("gateway", List.of()),
            List.of(scenario),
            phases(2),
            1,
            work,
            work.resolve("report.json"));
    List<Finding> findings = FaultTrials.make(options, List.of(way));
    assertThat(findings).hasSize(1);
    assertThat(FaultsTable.lines(findings)).hasSize(3);
    return findings.getFirst();
  }
}
