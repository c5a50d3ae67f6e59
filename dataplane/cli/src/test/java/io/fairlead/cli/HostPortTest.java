package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

final class HostPortTest {

  private final HostPort.Converter converter = new HostPort.Converter();

  @Test
  void readsNamesAndAddresses() {
    assertThat(converter.convert("localhost:80")).isEqualTo(new HostPort("localhost", 80));
    assertThat(converter.convert("127.0.0.1:0")).isEqualTo(new HostPort("127.0.0.1", 0));
    assertThat(converter.convert("[::1]:8000")).isEqualTo(new HostPort("::1", 8000));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "8000", ":8000", "host:", "host:x", "host:65536", "host:-1"})
  void saysWhatIsExpected(String text) {
    assertThatThrownBy(() -> converter.convert(text))
        .isInstanceOf(TypeConversionException.class)
        .hasMessageContaining("is not HOST:PORT");
  }
}
