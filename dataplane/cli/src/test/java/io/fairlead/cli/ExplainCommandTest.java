package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExplainCommandTest {

  private static final String REFUSED =
      """
      {"version": 1, "id": "r-1", "arrived": "2026-11-24T05:00:00Z", "model": "chat",
       "outcome": "saturated", "attempts": 0, "decisions": [],
       "refusals": [
        {"at": "2026-11-24T05:00:00Z", "configHash": "abcdef0123456789",
         "endpoints": [{"endpoint": "one", "why": "is full"}]}]}
      """;

  @TempDir private Path folder;

  private Path write(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  @Test
  void saysOfARefusedRequestThatItCantBeDecidedAgain() throws IOException {
    Path receipt = write("refused.json", REFUSED);
    Path other =
        write(
            "other.yaml",
            """
            apiVersion: inference.networking.x-k8s.io/v1alpha1
            kind: EndpointPickerConfig
            plugins:
            - type: queue-scorer
            """);
    ProgramRun plain = ProgramRun.of("explain", "--file", receipt.toString());
    assertThat(plain.out()).doesNotContain("under " + other).contains("was sent to nobody");
    ProgramRun run =
        ProgramRun.of("explain", "--file", receipt.toString(), "--with", other.toString());
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out())
        .isEqualTo(
            plain.out()
                + "\nunder "
                + other
                + ": can't be told: it was sent to nobody, and of that only the reasons are"
                + " kept\n");
  }
}
