package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * What the image's JVM is trained with does the operator's work, from a pool to an edit's status.
 */
class TrainCommandTest {
  @Test
  void poolsAreServedAndTheProcessEndsWell() {
    // No time at all: the first edit is awaited, as long as it takes.
    int code =
        FairleadOperator.commandLine()
            .execute("--leader-elect=false", "--port", "0", "train", "--for-seconds", "0");
    assertThat(code).as("it fails where no edit came into force").isZero();
  }
}
