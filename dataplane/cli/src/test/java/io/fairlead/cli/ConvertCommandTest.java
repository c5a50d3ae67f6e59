package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ConvertCommandTest {
  private static final String POOL =
      """
      apiVersion: inference.networking.x-k8s.io/v1alpha2
      kind: InferencePool
      metadata: {name: p}
      spec: {selector: {app: vllm}, targetPortNumber: 8000, extensionRef: {name: e}, mine: 1}
      """;

  @TempDir private Path folder;

  private record Run(int code, String out, String err) {}

  private static Run run(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine command = Fairlead.commandLine();
    command.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    int code = command.execute(args);
    return new Run(code, out.toString(), err.toString());
  }

  @Test
  void printsWhatBecomesOfAFileAndTellsWhatIsLost() throws IOException {
    String file = Files.writeString(folder.resolve("pool.yaml"), POOL).toString();
    Run run = run("convert", file);
    assertThat(run.code()).isZero();
    assertThat(run.out()).startsWith("apiVersion: \"inference.networking.k8s.io/v1\"");
    assertThat(run.err())
        .isEqualTo("lost: " + file + ":4: spec.mine: has no counterpart in a pool of v1\n");
    assertThat(run("convert", "--strict", file).code()).isEqualTo(1);

    Path made = Files.writeString(folder.resolve("new.yaml"), run.out());
    Run back = run("convert", "--to", "old", "--strict", made.toString());
    assertThat(back.code()).isZero();
    assertThat(back.out()).contains("v1alpha2", "targetPortNumber: 8000");
    assertThat(run("convert", "--kinds=InferenceModel", file).out()).isEqualTo(POOL);
  }

  @Test
  void whatCannotBeConvertedIsPrintedAsItWas() throws IOException {
    String broken = POOL.replace("selector: {app: vllm}", "selector: {}");
    String file = Files.writeString(folder.resolve("pool.yaml"), broken).toString();
    Run run = run("convert", file);
    assertThat(run.code()).isEqualTo(1);
    assertThat(run.out()).isEqualTo(broken);
    assertThat(run.err()).startsWith("not converted: " + file + ":4: spec.selector: is empty");
  }

  @Test
  void whatIsAskedForWronglyIsSaid() {
    assertThat(run("convert", folder.resolve("none.yaml").toString()))
        .matches(run -> run.code() == 1 && run.err().contains("none.yaml: is not there"));
    assertThat(run("convert", "--kinds=Pod").code()).isEqualTo(2);
    assertThat(run("convert", "--group=mine").err()).contains("--group: mine is neither");
    assertThat(run("convert", "--to=sideways").code()).isEqualTo(2);
  }
}
