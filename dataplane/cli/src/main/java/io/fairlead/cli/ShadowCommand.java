package io.fairlead.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Asks a picker how its shadows do. */
@Command(
    name = "shadow",
    description = {
      "How the shadows of a picker would have done with the requests that came, beside what was"
          + " really done.",
      "Asks a picker on this host, or one whose port is forwarded:"
          + " kubectl port-forward deploy/NAME 9090."
    },
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class ShadowCommand implements Callable<Integer> {

  @Option(
      names = "--picker",
      paramLabel = "URL",
      description = "Where the picker tells its metrics.",
      defaultValue = "http://localhost:9090")
  private URI picker = URI.create("http://localhost:9090");

  @Option(names = "--json", description = "Print what the picker says as it is.")
  private boolean json;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() throws IOException, InterruptedException {
    String page = PickerPage.read(picker, "/debug/shadows");
    PrintWriter out = spec.commandLine().getOut();
    (json ? List.of(ShownText.lines(page.strip())) : ShadowTable.lines(page)).forEach(out::println);
    out.flush();
    return 0;
  }
}
