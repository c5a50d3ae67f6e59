package io.fairlead.epp.frontend.extproc;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.epp.frontend.extproc.Destinations.Destination;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DestinationsTest {

  private final Destinations destinations = new Destinations();

  @Test
  void isMadeOnceForEachEndpoint() {
    Destination first = destinations.of("10.0.0.1:8000");
    assertThat(destinations.of("10.0.0." + "1:8000")).isSameAs(first);
    assertThat(first.header().getHeader().getRawValue().toStringUtf8()).isEqualTo("10.0.0.1:8000");
  }

  @Test
  void isAlwaysThatOfTheEndpointsAskedForHoweverManyThereAre() {
    Random random = new Random(1);
    for (int i = 0; i < 100_000; i++) {
      String names = "10.0.%d.%d:8000".formatted(random.nextInt(64), random.nextInt(256));
      Destination to = destinations.of(names);
      assertThat(to.names()).isEqualTo(names);
      assertThat(to.header().getHeader().getKey()).isEqualTo(Destinations.NAME);
      assertThat(to.header().getHeader().getRawValue().toStringUtf8()).isEqualTo(names);
      assertThat(
              to.metadata()
                  .getFieldsOrThrow("envoy.lb")
                  .getStructValue()
                  .getFieldsOrThrow(Destinations.NAME)
                  .getStringValue())
          .isEqualTo(names);
    }
  }
}
