package io.fairlead.bench;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.PoolCore;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.document.DocumentException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One change of a pool's config: reading and compiling the generated document off the loop, and the
 * swap on the loop, in a pool with 1,000 endpoints.
 */
@State(Scope.Thread)
@BenchmarkMode({Mode.SampleTime, Mode.AverageTime})
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ReloadBench {

  private static final int ENDPOINTS = 1_000;
  private static final List<String> SCORERS =
      List.of(
          "queue-scorer",
          "kv-cache-utilization-scorer",
          "prefix-cache-scorer",
          "lora-affinity-scorer");

  /** Models in the config, each with two targets. */
  @Param("1000")
  public int models;

  private final ConfigCompiler compiler = new ConfigCompiler(List.of());
  private final PoolCore core = new PoolCore();
  private final String[] documents = new String[2];
  private final CompiledConfig[] compiled = new CompiledConfig[2];
  private int next;

  /** Makes two configs that differ in one weight. */
  @Setup
  public void setUp() throws DocumentException {
    for (int i = 0; i < documents.length; i++) {
      documents[i] = ConfigDocument.write(config(i + 1));
      compiled[i] = compile(documents[i], i == 0 ? null : compiled[i - 1]);
    }
    core.configure(0, compiled[0]);
    core.endpoints(
        0,
        IntStream.range(0, ENDPOINTS)
            .mapToObj(i -> new EndpointSpec("e" + i, "1", "10.0.0.1", 8000, Map.of()))
            .toList());
  }

  private PoolConfig config(int weight) {
    return new PoolConfig(
        "default",
        "pool",
        Map.of("app", "vllm"),
        List.of(8000),
        "http",
        IntStream.range(0, models)
            .mapToObj(
                i ->
                    new ModelConfig(
                        "model-" + i,
                        Criticality.STANDARD,
                        List.of(
                            new TargetModel("model-" + i + "-v1", 9),
                            new TargetModel("model-" + i + "-v2", 1))))
            .toList(),
        new SchedulerConfig(
            SCORERS.stream().map(type -> new PluginConfig(type, type, Map.of())).toList(),
            List.of(
                new ProfileConfig(
                    "default",
                    SCORERS.stream().map(type -> new PluginReference(type, weight)).toList())),
            null));
  }

  private CompiledConfig compile(String document, @Nullable CompiledConfig running)
      throws DocumentException {
    return compiler.compile(ConfigDocument.read("bench", document).value(), running);
  }

  /** Off the loop: the document's text to a config that is ready to be applied. */
  @Benchmark
  public CompiledConfig parseAndCompile() throws DocumentException {
    int i = next++ & 1;
    return compile(documents[i], compiled[1 - i]);
  }

  /** On the loop: the swap. */
  @Benchmark
  public PoolCore configure() {
    core.configure(0, compiled[next++ & 1]);
    return core;
  }
}
