package io.fairlead.cli;

import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.DataPlaneConfig.Gateway;
import io.fairlead.epp.DataPlaneConfig.Listen;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs the HTTP gateway on a folder of resources. */
@Command(
    name = "gateway",
    description = "The picker as an HTTP gateway: proxies OpenAI requests in one hop.",
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class GatewayCommand implements Callable<Integer> {

  @Option(
      names = "--folder",
      required = true,
      description =
          "Folder of YAML: one InferencePool, its InferenceModels, EndpointSlices. Watched: a good"
              + " edit takes effect within a second, a broken one is refused.")
  private Path folder = Path.of(".");

  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      description = "Where clients send their requests.",
      defaultValue = "0.0.0.0:8080")
  private HostPort listen = new HostPort("0.0.0.0", 8080);

  @Mixin private Tuning tuning = new Tuning();

  @Override
  public Integer call() throws InterruptedException {
    var gateway = new Gateway(new Listen(listen.host(), listen.port()), tuning.maxBodyBytes);
    DataPlaneConfig config =
        tuning
            .applyTo(DataPlaneConfig.builder(new DataPlaneConfig.Folder(folder)))
            .gateway(gateway)
            .build();
    if (tuning.dryRun) {
      return PickerProcess.describe(config);
    }
    PickerProcess.run(config);
    return 0;
  }
}
