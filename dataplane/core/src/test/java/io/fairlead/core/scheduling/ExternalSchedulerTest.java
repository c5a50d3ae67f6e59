package io.fairlead.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.plugin.InvalidParameterException;
import io.fairlead.plugin.Parameters;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExternalSchedulerTest {

  @ParameterizedTest
  @CsvSource({"localhost:1,localhost,1", "scheduler.ns.svc:65535,scheduler.ns.svc,65535"})
  void anAddressIsAHostAndAPort(String address, String host, int port) {
    ExternalScheduler read = read(address);
    assertThat(read.host()).isEqualTo(host);
    assertThat(read.port()).isEqualTo(port);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"localhost", "localhost:", "localhost:0", "localhost:00000", "a:65536", "unix:"})
  void whatNobodyCanListenAtIsRefused(String address) {
    assertThatThrownBy(() -> read(address))
        .isInstanceOf(InvalidParameterException.class)
        .hasMessageContaining("set host:port");
  }

  private static ExternalScheduler read(String address) {
    return ExternalScheduler.read(new Parameters(Map.of("address", address)));
  }
}
