package io.fairlead.cli.demo;

import io.fairlead.crds.document.FieldError;
import io.fairlead.crds.local.LocalResourceReader;
import io.fairlead.crds.local.LocalResources;
import io.fairlead.epp.DataPlane;
import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.console.ConsoleConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Stubs, gateway, load and a live table in one process. */
@Command(
    name = "demo",
    description =
        "Three model server stubs, the gateway in front of them, a mixed load and a live table, in"
            + " one process, without Kubernetes.",
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
public final class DemoCommand implements Callable<Integer> {

  private static final String LOOPBACK = "127.0.0.1";
  private static final long READY_SECONDS = 15;

  @Option(
      names = "--once",
      description =
          "End after one round of the load and print the summary; exit 1 if a request failed.")
  private boolean once;

  @Option(
      names = "--folder",
      paramLabel = "DIR",
      description =
          "Folder of YAML to run on; the samples are written there when it holds none. Without it: a"
              + " temporary folder.")
  private @Nullable Path folder;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "Port of the gateway; 0 takes a free one.",
      defaultValue = "8080")
  private int port = 8080;

  @Option(
      names = "--rate",
      paramLabel = "N",
      description = "Requests per second.",
      defaultValue = "12")
  private double rate = 12;

  @Option(names = "--seed", paramLabel = "N", description = "Seed of the load.", defaultValue = "1")
  private long seed = 1;

  @Option(
      names = "--profile",
      paramLabel = "NAME",
      description = "Speed and size of the stubs' engines.",
      defaultValue = "l4-8b")
  private String profile = "l4-8b";

  @Option(
      names = "--time-scale",
      paramLabel = "FACTOR",
      description = "Wall seconds per engine second of the stubs.",
      defaultValue = "0.1")
  private double timeScale = 0.1;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (DemoShow.onTerminal()) {
      // What the log says of configs is under the table; its lines would tear the table apart.
      System.setProperty("FAIRLEAD_LOG_LEVEL", "ERROR");
    }
    if (!(rate > 0)) {
      throw new ParameterException(
          spec.commandLine(), "--rate is " + rate + "; set requests a second, more than 0");
    }
    Path samples = folder == null ? Files.createTempDirectory("fairlead-demo-") : folder;
    var stopped = new CountDownLatch(1);
    var finished = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(stopper(stopped, finished));
    try {
      return run(samples, stopped);
    } finally {
      if (folder == null) {
        delete(samples);
      }
      finished.countDown();
    }
  }

  private int run(Path samples, CountDownLatch stopped) throws IOException, InterruptedException {
    DemoFolder.fill(samples);
    LocalResources resources = LocalResourceReader.read(samples);
    if (!resources.errors().isEmpty()) {
      throw new IllegalArgumentException(
          resources.errors().stream().map(FieldError::toString).collect(Collectors.joining("\n")));
    }
    var config =
        DataPlaneConfig.builder(new DataPlaneConfig.Folder(samples)).gateway(LOOPBACK, port);
    try (var stubs = DemoStubs.start(resources, profile, timeScale);
        var plane =
            DataPlane.start(config.admin(LOOPBACK, 0).console(new ConsoleConfig(null)).build())) {
      awaitReady(plane);
      try (var show = new DemoShow(plane, samples, stopped)) {
        show.banner(stubs.count());
        return once ? show.once(rate, seed) : show.untilStopped(rate, seed);
      }
    }
  }

  private static void awaitReady(DataPlane plane) throws InterruptedException {
    try {
      plane.ready().get(READY_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("not ready: " + plane.notReady(), e);
    }
  }

  /** On Ctrl-C: the load ends, then everything in its order, and only then the process. */
  private static Thread stopper(CountDownLatch stopped, CountDownLatch finished) {
    return new Thread(
        () -> {
          stopped.countDown();
          try {
            finished.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        },
        "demo-stop");
  }

  /** What its user put there besides files stays; the demo has ended all the same. */
  private void delete(Path folder) {
    try {
      try (Stream<Path> files = Files.list(folder)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
      Files.delete(folder);
    } catch (NoSuchFileException e) {
      // Its user was faster.
    } catch (IOException e) {
      PrintWriter err = spec.commandLine().getErr();
      err.println("demo: " + folder + " stays: " + e.getMessage() + " can't be deleted");
      err.flush();
    }
  }
}
