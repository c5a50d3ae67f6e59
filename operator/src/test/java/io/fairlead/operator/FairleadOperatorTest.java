package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What the operator is told when it starts. */
class FairleadOperatorTest {
  @Test
  void namespacesMayStandApart() {
    assertThat(watched("a, b ,c")).containsExactlyInAnyOrder("a", "b", "c");
  }

  /** As templates write lists. */
  @ParameterizedTest
  @ValueSource(strings = {"a,b,", "a,b, ", "a,b,,"})
  void aCommaAtTheEndNamesNothing(String names) {
    assertThat(watched(names)).containsExactlyInAnyOrder("a", "b");
  }

  /** As manifests have it whose list is empty. */
  @ParameterizedTest
  @ValueSource(strings = {"", " "})
  void noNamespaceIsAll(String none) {
    assertThat(watched(none)).isEmpty();
  }

  private static Iterable<String> watched(String namespaces) {
    CommandLine line = FairleadOperator.commandLine();
    line.parseArgs("--watch-namespaces=" + namespaces);
    FairleadOperator operator = line.getCommand();
    return operator.watched();
  }

  @ParameterizedTest
  @CsvSource({
    "'--watch-namespaces=a,,b', '--watch-namespaces is \"a,,b\", with an empty name in it'",
    "'--watch-namespaces=,a', '--watch-namespaces is \",a\", with an empty name in it'",
    "'--watch-namespaces=,', '--watch-namespaces is \",\", with an empty name in it'",
    "'--watch-namespaces=a,Not_a_name', '--watch-namespaces has \"Not_a_name\", which is no name of a namespace'",
    "'--watch-namespaces=*', '--watch-namespaces has \"*\", which is no name of a namespace; leave the option out to serve all'",
    "'--epp-pull-secrets=a,,b', '--epp-pull-secrets is \"a,,b\", with an empty name in it'",
    "'--epp-pull-secrets=a,_b', '--epp-pull-secrets has \"_b\", which is no name of a Secret'",
    "'--adopt-grace-seconds=-1', '--adopt-grace-seconds is -1; set 0 or more'",
    "'--port=70000', '--port is 70000; set one from 1 to 65535, or 0 for any free one'",
    "'--max-rollouts=0', '--max-rollouts is 0; set 1 or more'"
  })
  void whatCannotBeIsNamedAndNothingStarts(String option, String message) {
    StringWriter said = new StringWriter();
    CommandLine line =
        FairleadOperator.commandLine()
            .setErr(new PrintWriter(said))
            .setOverwrittenOptionsAllowed(true);
    int code =
        assertTimeoutPreemptively(
            Duration.ofMinutes(1), () -> line.execute("--leader-elect=false", "--port=0", option));
    assertThat(code).as("bad usage").isEqualTo(2);
    assertThat(said.toString()).contains(message).doesNotContain("Exception", "\tat ");
  }
}
