package io.fairlead.cli.explain;

import com.fasterxml.jackson.databind.JsonNode;
import io.fairlead.cli.InputText;
import io.fairlead.cli.PickerPage;
import io.fairlead.cli.ShownText;
import io.fairlead.cli.TextTable;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Asks a picker why a request went where it did, and tells that in words. */
@Command(
    name = "explain",
    description = {
      "Why a request went where it did: the winner first, then why not the others. Without an ID:"
          + " the newest requests.",
      "Asks a picker on this host, or one whose port is forwarded:"
          + " kubectl port-forward deploy/NAME 9090."
    },
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
public final class ExplainCommand implements Callable<Integer> {

  @Parameters(
      arity = "0..1",
      paramLabel = "ID",
      description = "The request's x-request-id, as its client or its gateway sent it.")
  private @Nullable String id;

  @Option(
      names = "--picker",
      paramLabel = "URL",
      description = "Where the picker tells its metrics.",
      defaultValue = "http://localhost:9090")
  private URI picker = URI.create("http://localhost:9090");

  @Option(
      names = "--file",
      paramLabel = "FILE",
      description = "Instead of asking: what a picker said at /debug/decisions/ID before.")
  private @Nullable Path file;

  @Option(
      names = "--with",
      paramLabel = "CONFIG",
      description =
          "Decide it again under the scheduling in this file, an EndpointPickerConfig, an"
              + " EndpointPicker or a config document: whether it would have gone elsewhere.")
  private @Nullable Path with;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Without ID: how many.",
      defaultValue = "20")
  private int limit = 20;

  @Option(
      names = "--nth",
      paramLabel = "N",
      description = "With ID: which of the requests that have it, 1 for the newest.",
      defaultValue = "1")
  private int nth = 1;

  @Option(names = "--json", description = "Print what the picker says as it is.")
  private boolean json;

  @Spec private CommandSpec spec = CommandSpec.create();

  /** For the command line. */
  public ExplainCommand() {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (id != null && file != null) {
      throw new ParameterException(spec.commandLine(), "Either an ID or --file: it has one.");
    }
    if (with != null && (json || (id == null && file == null))) {
      throw new ParameterException(
          spec.commandLine(), "--with decides one request again, and tells in words: give its ID.");
    }
    // What is wrong with it is told before anybody is asked.
    OtherConfig other = with == null ? null : OtherConfig.read(with);
    String page = page();
    List<String> lines =
        json
            ? List.of(ShownText.lines(page.strip()))
            : id == null && file == null
                ? list(page)
                : receipt(page, other).stream().map(ShownText::line).toList();
    lines.forEach(spec.commandLine().getOut()::println);
    spec.commandLine().getOut().flush();
    return 0;
  }

  private String page() throws IOException, InterruptedException {
    if (file != null) {
      return InputText.read(file);
    }
    String path =
        id == null
            ? "/debug/decisions?limit=" + limit
            : "/debug/decisions/"
                + URLEncoder.encode(id, StandardCharsets.UTF_8).replace("+", "%20")
                + (nth == 1 ? "" : "?nth=" + nth);
    return PickerPage.read(picker, path);
  }

  private List<String> receipt(String text, @Nullable OtherConfig other) throws IOException {
    ReceiptReader reader = reader();
    ReceiptPage page = reader.receipt(text);
    return ReceiptText.lines(page, other == null ? List.of() : other.decide(page, reader));
  }

  private ReceiptReader reader() {
    return new ReceiptReader(file == null ? picker.toString() : InputText.name(file));
  }

  private List<String> list(String page) throws IOException {
    JsonNode list = reader().tree(page);
    if (list.path("requests").isEmpty() && list.path("kept").isTextual()) {
      return List.of("no request: " + ShownText.line(list.path("kept").asText()));
    }
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("ID", "ARRIVED", "MODEL", "ENDPOINT", "OUTCOME", "FIRST TOKEN", "TOOK"));
    for (JsonNode request : list.path("requests")) {
      rows.add(
          List.of(
              request.path("id").asText(),
              request.path("arrived").asText(),
              request.path("model").asText(),
              request.path("endpoint").asText(),
              request.path("outcome").asText(),
              millis(request.path("firstTokenMillis")),
              millis(request.path("tookMillis"))));
    }
    return TextTable.lines(rows);
  }

  private static String millis(JsonNode number) {
    return number.isNumber() ? String.format(Locale.ROOT, "%,.0f ms", number.asDouble()) : "-";
  }
}
