package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.epp.config.ConfigOffer;
import io.fairlead.epp.config.ConfigReaders;
import io.fairlead.epp.config.DocumentCompiler;
import io.fairlead.epp.config.FileState;
import io.fairlead.plugin.PluginFactory;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What CONTRIBUTING.md says of a scorer of one's own, done: its class is compiled against the
 * plugin API, its service file and it go into a jar, and its config makes it pick.
 */
class OutOfTreePluginTest {

  private static final String SERVICE = "META-INF/services/" + PluginFactory.class.getName();

  @TempDir Path folder;

  @Test
  void aJarAddsATypeThatPicks() throws Exception {
    Page page = Page.read();
    try (URLClassLoader loader = loader(jar(page))) {
      List<PluginFactory> found = found(loader);
      assertThat(found).extracting(PluginFactory::type).contains("zone-scorer");
      assertThat(found.getLast().getClass().getClassLoader()).isSameAs(loader);

      assertThat(picked(found, page.config())).containsExactly("near");
      assertThat(picked(found, page.config().replace("weightPercent: 80", "weightPercent: 0")))
          .as("without a preference")
          .containsExactlyInAnyOrder("near", "far");
    }
  }

  @Test
  void itsSettingsAreCheckedLikeThoseOfBuiltInTypes() throws Exception {
    Page page = Page.read();
    try (URLClassLoader loader = loader(jar(page))) {
      assertThat(refusal(found(loader), page.config().replace(": 80", ": 180")))
          .endsWith("plugins[0].parameters.weightPercent is 180; set a whole number from 0 to 100");
      assertThat(refusal(found(loader), page.config().replace("weightPercent", "percent")))
          .endsWith("plugins[0].parameters.percent is not a setting of zone-scorer; remove it");
    }
  }

  @Test
  void withoutTheJarTheTypeIsUnknown() throws Exception {
    assertThat(refusal(List.of(), Page.read().config()))
        .contains("plugins[0].type \"zone-scorer\" is not a known plugin type");
  }

  private Path jar(Page page) throws IOException, URISyntaxException {
    Path source = folder.resolve(page.className() + ".java");
    Files.writeString(source, page.source());
    Path classes = Files.createDirectories(folder.resolve("classes"));
    Path api =
        Path.of(PluginFactory.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    int failed =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-proc:none",
                "-cp",
                api.toString(),
                "-d",
                classes.toString(),
                source.toString());
    assertThat(failed).as("exit code of the compiler").isZero();
    Path jar = folder.resolve("zone.jar");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
        Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        out.putNextEntry(new JarEntry(classes.relativize(file).toString()));
        Files.copy(file, out);
      }
      out.putNextEntry(new JarEntry(SERVICE));
      out.write(page.service().getBytes(StandardCharsets.UTF_8));
    }
    return jar;
  }

  private static URLClassLoader loader(Path jar) throws IOException {
    return new URLClassLoader(
        new URL[] {jar.toUri().toURL()}, OutOfTreePluginTest.class.getClassLoader());
  }

  private static List<PluginFactory> found(ClassLoader loader) {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(loader);
    try {
      return PluginTypes.found();
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  /** The endpoints that get any of many requests. */
  private Set<String> picked(List<PluginFactory> types, String config) throws IOException {
    if (!(compile(types, config) instanceof DocumentCompiler.Result.Usable usable)) {
      throw new AssertionError(refusal(types, config));
    }
    PoolCore core = new PoolCore();
    core.configure(0, usable.config());
    core.endpoints(0, List.of(endpoint("far", "zone-b"), endpoint("near", "zone-a")));
    Set<String> picked = new HashSet<>();
    RequestListener listener =
        new RequestListener() {
          @Override
          public void send(long request, Route route) {
            picked.add(route.endpoint());
          }

          @Override
          public void pass(long request) {}

          @Override
          public void reject(long request, Rejection rejection) {
            throw new AssertionError(rejection.toString());
          }
        };
    for (int seed = 0; seed < 100; seed++) {
      RequestFacts facts = new RequestFacts("", seed, new long[0], 1, -1, 1);
      core.ended(0, core.arrive(0, facts, listener), Outcome.COMPLETED, Usage.UNKNOWN);
    }
    return picked;
  }

  private static EndpointSpec endpoint(String name, String zone) {
    return new EndpointSpec(
        name, "1", "10.0.0.1", 8000, Map.of("topology.kubernetes.io/zone", zone));
  }

  private String refusal(List<PluginFactory> types, String config) throws IOException {
    return switch (compile(types, config)) {
      case DocumentCompiler.Result.Refused refused -> refused.message();
      case DocumentCompiler.Result.Usable usable -> "accepted: " + usable.config().source();
    };
  }

  private DocumentCompiler.Result compile(List<PluginFactory> types, String config)
      throws IOException {
    Path endpoints =
        Files.writeString(
            folder.resolve("endpoints.yaml"),
            "endpoints: [{name: near, address: 10.0.0.1, port: 8000}]\n");
    Path file = Files.writeString(folder.resolve("config.yaml"), config);
    ConfigOffer offer =
        ConfigReaders.files(FileState.read(List.of(endpoints, file)), endpoints, file);
    return new DocumentCompiler(types).compile((ConfigOffer.Document) offer, null);
  }

  /**
   * The worked example.
   *
   * @param source of the class
   * @param service content of the service file
   * @param config an EndpointPickerConfig
   */
  private record Page(String source, String service, String config) {

    private static final String HEADING = "## A scorer in ten minutes\n";

    static Page read() throws IOException {
      Path at = Path.of("").toAbsolutePath();
      while (!Files.exists(at.resolve("CONTRIBUTING.md"))) {
        at = Objects.requireNonNull(at.getParent(), "no CONTRIBUTING.md above here");
      }
      String text = Files.readString(at.resolve("CONTRIBUTING.md"));
      assertThat(text).contains(HEADING, SERVICE);
      String page = text.substring(text.indexOf(HEADING));
      String afterService = page.substring(page.indexOf(SERVICE));
      return new Page(block(page, "java"), block(afterService, ""), block(page, "yaml"));
    }

    private static String block(String page, String language) {
      String fence = "   ```" + language + "\n";
      int from = page.indexOf("\n" + fence) + 1 + fence.length();
      assertThat(from).as("a block of %s", language).isGreaterThan(fence.length());
      return page.substring(from, page.indexOf("   ```\n", from)).stripTrailing().stripIndent()
          + "\n";
    }

    String className() {
      String mark = "public final class ";
      int from = source.indexOf(mark) + mark.length();
      return source.substring(from, source.indexOf(' ', from));
    }
  }
}
