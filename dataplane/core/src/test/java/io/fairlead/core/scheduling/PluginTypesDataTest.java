package io.fairlead.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.plugins.BuiltInPlugins;
import io.fairlead.plugin.PluginFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.StringEntry;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * What the operator knows of plugin types, {@code plugin-types.yaml}, is what the registry says.
 */
class PluginTypesDataTest {

  private static final Path DATA =
      Path.of("crds/src/main/resources/io/fairlead/crds/document/plugin-types.yaml");

  @Test
  void theDataOfTheOperatorIsTheRegistry() throws Exception {
    Path made = root().resolve("dataplane/core/target/plugin-types.yaml");
    Files.writeString(made, registry());

    assertThat(root().resolve(DATA))
        .as("what the operator knows; cp %s %s", root().relativize(made), DATA)
        .hasSameTextualContentAs(made);
  }

  private static String registry() throws Exception {
    Set<String> names = texts();
    StringBuilder text =
        new StringBuilder(
            """
            # Every plugin type of the data plane with the schema of its parameters. Written by PluginTypesDataTest
            # of dataplane/core from the registry, and held to it by the same test: not to be edited.
            types:
            """);
    Stream.concat(BuiltInPlugins.factories().stream(), BuiltInSettings.factories().stream())
        .map(PluginFactory::type)
        .sorted()
        .forEach(type -> line(text, type, new SettingsFinder(type, names).schema()));
    text.append("# Types of upstream that are not supported, and what to use.\ninstead:\n");
    new TreeMap<>(UpstreamTypes.INSTEAD)
        .forEach((type, instead) -> line(text, type, "\"" + instead + "\""));
    return text.toString();
  }

  private static void line(StringBuilder text, String key, String value) {
    text.append("  ").append(key).append(": ").append(value).append('\n');
  }

  /** Every text in the code that could be the name of a setting. */
  private static Set<String> texts() throws IOException, URISyntaxException {
    Set<String> names = new TreeSet<>();
    for (Class<?> home : List.of(ConfigCompiler.class)) {
      URI classes = home.getProtectionDomain().getCodeSource().getLocation().toURI();
      try (Stream<Path> files = Files.walk(Path.of(classes))) {
        files
            .filter(file -> file.toString().endsWith(".class"))
            .forEach(file -> names.addAll(texts(file)));
      }
    }
    names.removeIf(name -> !name.matches("[A-Za-z][A-Za-z0-9]*"));
    return names;
  }

  private static Set<String> texts(Path file) {
    try {
      Set<String> texts = new TreeSet<>();
      ClassFile.of()
          .parse(Files.readAllBytes(file))
          .constantPool()
          .forEach(
              entry -> {
                if (entry instanceof StringEntry text) {
                  texts.add(text.stringValue());
                }
              });
      return texts;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path root() {
    Path at = Path.of("").toAbsolutePath();
    while (!Files.exists(at.resolve(DATA))) {
      at = at.getParent();
      assertThat(at).as("a folder with %s", DATA).isNotNull();
    }
    return at;
  }
}
