package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.api.model.Pod;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.testing.TestPods;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Kustomization;
import io.fairlead.operator.testing.Picker;
import io.fairlead.operator.testing.PoolFixture;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * The situations of {@code docs/troubleshooting.md}, each in a namespace of its own: its commands
 * print what the page says. With {@code -Dfairlead.document.write=true} the page is written
 * instead, by what they print.
 */
@ExtendWith(KubeApi.class)
class TroubleshootingDocumentIT {
  private static final Path DOCUMENT = Path.of("..", "docs", "troubleshooting.md");
  private static final boolean WRITES = Boolean.getBoolean("fairlead.document.write");
  private static final String TITLE = "## ";

  /** A loopback address that nothing else on the machine listens at. */
  private static final String SERVER = "127.81.0.1";

  private static final String FENCE = "```";

  /** When nothing has changed for so long, it is taken for the end of it. */
  private static final Duration SETTLED = Duration.ofSeconds(8);

  @TempDir private Path folder;

  /**
   * A part of the page.
   *
   * @param lines from its title to the next
   */
  private record Situation(String title, List<String> lines) {}

  @TestFactory
  List<DynamicTest> whatTheCommandsPrintIsWhatThePageSays(KubeApi.Running server)
      throws IOException {
    Installed cluster = Installed.on(server);
    List<Situation> situations = situations();
    assertThat(situations).hasSizeGreaterThanOrEqualTo(8);
    List<DynamicTest> tests = new ArrayList<>();
    for (int i = 0; i < situations.size(); i++) {
      int number = i;
      Situation situation = situations.get(i);
      tests.add(
          DynamicTest.dynamicTest(
              situation.title(), () -> play(cluster, server, situation, "situation-" + number)));
    }
    return tests;
  }

  private void play(
      Installed cluster, KubeApi.Running running, Situation situation, String namespaces)
      throws IOException {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace(namespaces));
    Path kubeconfig = Files.writeString(folder.resolve(namespaces), running.kubeConfig());
    UnaryOperator<String> kubectl =
        command -> Kustomization.shell(kubeconfig, pool.namespace(), command);
    HttpServer answers = HttpServer.create(new InetSocketAddress(SERVER, 8000), 0);
    answers.createContext("/", exchange -> exchange.sendResponseHeaders(200, -1));
    answers.start();
    try (OperatorUnderTest _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.createPool();
      pool.createModel("chat", "chat", 90);
      Pod server = TestPods.named("server-1", pool.namespace(), Map.of("app", "vllm"));
      cluster
          .admin()
          .resource(cluster.admin().resource(server).create())
          .editStatus(pod -> TestPods.running(pod, SERVER, true, 0));
      pool.awaitPool("Ready", "False/RolloutInProgress");
      pool.becomeAvailable();
      try (Picker _ = new Picker(cluster, pool)) {
        pool.awaitPool("EndpointsAvailable", "True/EndpointsReady");
        pool.awaitModel("chat", "Ready", "True/Ready");
        happen(situation, kubectl, pool);
      }
    } finally {
      answers.stop(0);
    }
  }

  private void happen(Situation situation, UnaryOperator<String> kubectl, PoolFixture pool)
      throws IOException {
    List<String> applied = blocks(situation, "yaml");
    for (int i = 0; i < applied.size(); i++) {
      Path file = folder.resolve(pool.namespace() + "-" + i + ".yaml");
      Files.writeString(file, applied.get(i).replace(": default", ": " + pool.namespace()));
      var _ = kubectl.apply("kubectl apply -f " + file);
      if (applied.get(i).contains("no-deployments")) {
        await()
            .until(
                () ->
                    kubectl
                        .apply(
                            "kubectl create deployment x --image=x --dry-run=server 2>&1 || true")
                        .contains("no Deployments today"));
      }
    }
    try {
      List<String> said = blocks(situation, "console").getFirst().lines().toList();
      if (WRITES) {
        write(situation, settled(said, kubectl, pool));
        return;
      }
      await()
          .atMost(Duration.ofMinutes(1))
          .ignoreExceptions()
          .untilAsserted(
              () ->
                  assertThat(comparable(transcript(said, kubectl, pool)))
                      .isEqualTo(comparable(said)));
    } finally {
      for (int i = 0; i < applied.size(); i++) {
        var _ =
            kubectl.apply(
                "kubectl delete --wait=false -f "
                    + folder.resolve(pool.namespace() + "-" + i + ".yaml"));
      }
    }
  }

  private static void write(Situation situation, List<String> printed) throws IOException {
    String page = Files.readString(DOCUMENT);
    int begin = page.indexOf(FENCE + "console", page.indexOf(TITLE + situation.title()));
    int end = page.indexOf("\n" + FENCE, begin);
    Files.writeString(
        DOCUMENT,
        page.substring(0, begin)
            + FENCE
            + "console\n"
            + String.join("\n", printed)
            + page.substring(end));
  }

  private static List<String> settled(
      List<String> said, UnaryOperator<String> kubectl, PoolFixture pool) {
    long[] since = {System.nanoTime()};
    List<String> last = new ArrayList<>();
    await()
        .atMost(Duration.ofMinutes(2))
        .ignoreExceptions()
        .until(
            () -> {
              List<String> now = transcript(said, kubectl, pool);
              if (!comparable(now).equals(comparable(last))) {
                last.clear();
                last.addAll(now);
                since[0] = System.nanoTime();
              }
              return System.nanoTime() - since[0] > SETTLED.toNanos();
            });
    return last;
  }

  /** The commands, each with what it prints. */
  private static List<String> transcript(
      List<String> said, UnaryOperator<String> kubectl, PoolFixture pool) {
    List<String> lines = new ArrayList<>();
    for (String line : said) {
      if (line.startsWith("$ ")) {
        lines.add(line);
        kubectl
            .apply(line.substring(2))
            .replace(pool.namespace(), "default")
            .lines()
            .map(String::stripTrailing)
            .forEach(lines::add);
      }
    }
    return lines;
  }

  /** Without ages, which also make columns narrower or wider. */
  private static List<String> comparable(List<String> lines) {
    return lines.stream()
        .map(line -> line.replaceAll(" +", " ").replaceAll("\\b(\\d+[smhd])+$", "AGE").strip())
        .toList();
  }

  private static List<Situation> situations() throws IOException {
    List<Situation> situations = new ArrayList<>();
    for (String line : Files.readAllLines(DOCUMENT)) {
      if (line.startsWith(TITLE)) {
        situations.add(new Situation(line.substring(TITLE.length()), new ArrayList<>()));
      } else if (!situations.isEmpty()) {
        situations.getLast().lines().add(line);
      }
    }
    return situations;
  }

  private static List<String> blocks(Situation situation, String language) {
    List<String> blocks = new ArrayList<>();
    List<String> lines = situation.lines();
    for (int begin = 0; begin < lines.size(); begin++) {
      if (lines.get(begin).equals(FENCE + language)) {
        List<String> rest = lines.subList(begin + 1, lines.size());
        blocks.add(String.join("\n", rest.subList(0, rest.indexOf(FENCE))));
      }
    }
    assertThat(blocks).as(language + " of " + situation.title()).isNotEmpty();
    return blocks;
  }
}
