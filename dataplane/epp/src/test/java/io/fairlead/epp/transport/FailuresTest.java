package io.fairlead.epp.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.Failure;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class FailuresTest {

  @Test
  void aConnectionThatThereIsNoMemoryForSaysNothingOfTheEndpoint() {
    assertThat(Failures.ofConnect(new OutOfMemoryError("of the test")))
        .isEqualTo(Failure.NO_SOCKET);
    assertThat(Failures.ofConnect(new IOException(new OutOfMemoryError("of the test"))))
        .isEqualTo(Failure.NO_SOCKET);
    IOException one = new IOException("of the test");
    one.initCause(new IOException("the other", one));
    assertThat(Failures.ofConnect(one)).isEqualTo(Failure.UNREACHABLE);
  }
}
