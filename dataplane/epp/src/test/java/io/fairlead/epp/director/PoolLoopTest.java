package io.fairlead.epp.director;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.EndpointSnapshot;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.PoolCore;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.telemetry.Telemetry;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.PluginFactory;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PoolLoopTest {

  @Test
  void endpointsComeIntoForceAlthoughAPluginThatIsToldOfThemThrows() {
    PoolLoop pool =
        new PoolLoop(
            new PoolCore(), ImmediateEventExecutor.INSTANCE, () -> 0, new Telemetry(() -> 0));
    PluginConfig plugin = new PluginConfig("deaf", "deaf", Map.of());
    pool.configure(
            new ConfigCompiler(List.of(new Deaf()))
                .compile(
                    new PoolConfig(
                        "n",
                        "p",
                        Map.of(),
                        List.of(1),
                        "http",
                        List.of(),
                        new SchedulerConfig(List.of(plugin), List.of(), null))))
        .syncUninterruptibly();

    assertThat(
            pool.endpoints(List.of(new EndpointSpec("e", "1", "10.0.0.1", 1, Map.of())))
                .isSuccess())
        .isTrue();
    assertThat(pool.snapshot().getNow()).extracting(EndpointSnapshot::name).containsExactly("e");
  }

  private static final class Deaf implements PluginFactory {

    @Override
    public String type() {
      return "deaf";
    }

    @Override
    public Observer create(Parameters parameters) {
      return new Observer() {
        @Override
        public void joined(Endpoint endpoint) {
          throw new AssertionError("not listening");
        }
      };
    }
  }
}
