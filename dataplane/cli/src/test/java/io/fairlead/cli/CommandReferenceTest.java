package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.testing.CommandReference;
import io.fairlead.crds.testing.GeneratedPage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page about commands is what their command lines are. */
class CommandReferenceTest {

  /** How the code asks for a variable, and how the log's config does. */
  private static final Pattern READ =
      Pattern.compile(
          "(?:getenv\\(|environment\\.get(?:OrDefault)?\\(|required\\(environment, )\"([A-Z_]+)\""
              + "|\"(OTEL_[A-Z_]+)\"|\\$\\{env:(\\w+)|\\$\\{(FAIRLEAD_\\w+)");

  @Test
  void theCommands() throws IOException {
    GeneratedPage page =
        new GeneratedPage(
            "Commands",
            """
            Every command of `fairlead` with its options and the variables of the environment that it reads, as `--help` tells them. `--help` itself is an \
            option of all. Arguments that begin with an option are those of `fairlead epp`, as upstream's picker has them. The program ends with 0, with 1 when \
            the run failed, and with 2 when the command line is wrong; [operations.md](../operations.md#ending-it) says how a picker ends. The operator's \
            options are on [a page of their own](operator.md).
            """);
    CommandReference.add(page, Fairlead.commandLine());
    page.section("Options of upstream's pickers")
        .paragraph(
            """
            These options of `fairlead epp` do nothing. The log names each at the start, unless it asks for what is done anyway.
            """)
        .table("option", "asks for what is done anyway", "instead");
    EppFlags.WITHOUT_EFFECT.stream()
        .filter(flag -> !flag.refused())
        .forEach(
            flag ->
                page.row(
                    GeneratedPage.code(flag.name()),
                    flag.anyway() == null ? "" : GeneratedPage.code(flag.anyway()),
                    GeneratedPage.prose(flag.said())));
    page.paragraph("These are refused, as upstream refuses them.").table("option", "instead");
    EppFlags.WITHOUT_EFFECT.stream()
        .filter(UpstreamFlag::refused)
        .forEach(
            flag -> page.row(GeneratedPage.code(flag.name()), GeneratedPage.prose(flag.said())));
    page.hold("reference/commands.md", CommandReferenceTest.class);
  }

  @Test
  void everyVariableThatIsReadIsTold() throws IOException {
    Set<String> read = new TreeSet<>();
    try (Stream<Path> sources = Files.walk(Path.of("src", "main"))) {
      for (Path source : sources.filter(Files::isRegularFile).toList()) {
        READ.matcher(Files.readString(source))
            .results()
            .forEach(
                found -> {
                  for (int i = 1; i <= found.groupCount(); i++) {
                    if (found.group(i) != null) {
                      read.add(found.group(i));
                    }
                  }
                });
      }
    }
    assertThat(read).hasSizeGreaterThan(8);
    assertThat(CommandReference.variableNames(Fairlead.commandLine())).containsAll(read);
  }
}
