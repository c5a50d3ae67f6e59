package io.fairlead.epp.config;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.Rejection;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.epp.datalayer.EndpointSet;
import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.director.RequestObserver;
import io.fairlead.epp.status.PickerStatus;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Configs come into force or are refused, and what the status says is about the newest. */
class ConfigApplierTest {

  private static final String GOOD = document("good", "scheduling: {}\n");
  private static final String OTHER = document("other", "scheduling: {}\n");
  private static final String BAD =
      document("good", "scheduling: {plugins: [{type: no-such-scorer}]}");

  private final PickerStatus status = new PickerStatus();
  private final Queue<Runnable> control = new ArrayDeque<>();
  private final List<String> told = new ArrayList<>();
  private @Nullable RuntimeException whenApplying;
  private final List<Consumer<@Nullable EndpointSet>> held = new ArrayList<>();
  private boolean holdEndpoints;
  private @Nullable PoolConfig followed;
  private @Nullable PoolConfig applied;
  private @Nullable EndpointSet withIt;
  private final ConfigApplier applier = applier(List.of());

  @Test
  void aConfigWaitsForItsEndpointsAndANewerOneTakesItsPlace() {
    offer(GOOD);
    runControl();
    told.clear();
    holdEndpoints = true;
    offer(OTHER);
    runControl();
    assertThat(told).as("old endpoints must not meet new models").isEmpty();
    assertThat(status.current().configHash()).isEqualTo(hashOf(GOOD));

    offer(document("newest", "scheduling: {}\n"));
    held.getFirst().accept(EndpointSet.NONE);
    runControl();
    assertThat(told).as("too late").isEmpty();
    held.getLast().accept(EndpointSet.NONE);
    runControl();
    assertThat(told).containsExactly("applied newest");
  }

  @Test
  void aRefusalOutlivesAnOlderConfigThatComesIntoForceAfterIt() {
    offer(GOOD);
    offer(BAD);
    assertThat(refusal()).contains("no-such-scorer");

    runControl();

    assertThat(status.current().configHash()).isEqualTo(hashOf(GOOD));
    assertThat(refusal()).as("the newest config is still refused").contains("no-such-scorer");
  }

  @Test
  void aRefusalIsOverOnceWhatWasSeenLastIsInForce() {
    offer(GOOD);
    runControl();
    offer(BAD);
    assertThat(refusal()).contains("no-such-scorer");
    offer(GOOD);
    assertThat(refusal()).as("not in force yet").isNotNull();
    runControl();

    assertThat(status.current().refused()).isNull();
    assertThat(status.current().generation()).as("never another config").isEqualTo(1);
  }

  @Test
  void aRefusalIsOverWhenOnlyACommentTellsTheNewestFromTheOneInForce() {
    offer(GOOD);
    runControl();
    offer(BAD);
    offer("# mended\n" + GOOD);
    runControl();

    assertThat(status.current().refused()).isNull();
    assertThat(status.current().generation()).isEqualTo(1);
  }

  @Test
  void aFailureToApplyIsARefusal() {
    offer(GOOD);
    runControl();
    whenApplying = new IllegalStateException("no room");
    offer(OTHER);
    runControl();

    assertThat(refusal())
        .isEqualTo("test: could not be applied: java.lang.IllegalStateException: no room");
    assertThat(status.current().configHash()).isEqualTo(hashOf(GOOD));
    assertThat(told).containsExactly("applied good", "not applied", "refused");
    assertThat(Objects.requireNonNull(followed).name()).as("not the refused one").isEqualTo("good");
  }

  /** What is told of a pool by the API server does not wait for a file that somebody broke. */
  @ParameterizedTest
  @ValueSource(strings = {"plugs: []", "plugins: [{type: no-such-scorer}]"})
  void thePoolCountsWhateverBecomesOfItsScheduling(String broken) {
    String good = "plugins: [{type: lora-affinity-scorer}]";
    applier.offer(pool(good, 8000));
    runControl();
    applier.offer(pool(broken, 8000));
    runControl();
    assertThat(told).as("nothing else has changed").containsExactly("applied p", "refused");

    applier.offer(pool(broken, 8001));
    runControl();
    PoolConfig now = Objects.requireNonNull(applied);
    assertThat(now.targetPorts()).containsExactly(8001);
    assertThat(now.scheduler().plugins()).extracting(p -> p.type()).containsExactly(SCORER);
    assertThat(status.current().configHash()).isEqualTo(ConfigDocument.hash(now));
    assertThat(refusal()).contains(broken.contains("plugs") ? "plugs" : "no-such-scorer");

    applier.offer(pool(good, 8001));
    runControl();
    assertThat(status.current().refused()).isNull();
  }

  /** Models, selector and ports of a document of the operator's wait for no scheduling. */
  @Test
  void theRestOfADocumentInPartsCountsWhateverBecomesOfItsScheduling() {
    String good = "scheduling: {plugins: [{type: lora-affinity-scorer}]}\n";
    String bad = "scheduling: {plugins: [{type: no-such-scorer}]}\n";
    offerInParts(document("good", good));
    offerInParts(document("good", bad));
    assertThat(told).as("nothing else has changed").containsExactly("applied good", "refused");

    offerInParts(document("good", bad).replace("8000", "8001"));
    PoolConfig now = Objects.requireNonNull(applied);
    assertThat(now.targetPorts()).containsExactly(8001);
    assertThat(now.scheduler().plugins()).extracting(p -> p.type()).containsExactly(SCORER);
    assertThat(Objects.requireNonNull(followed).targetPorts()).containsExactly(8001);
    assertThat(status.current().configHash()).isEqualTo(ConfigDocument.hash(now));
    assertThat(Objects.requireNonNull(status.current().refused()).hash())
        .as("what is there to be run")
        .isEqualTo(hashOf(document("good", bad).replace("8000", "8001")));

    offerInParts(document("good", good).replace("8000", "8001"));
    assertThat(status.current().refused()).isNull();
    assertThat(status.current().configHash()).isEqualTo(ConfigDocument.hash(now));
  }

  @Test
  void aPickerThatStartsRunsTheRestOfARefusedDocumentUnderTheLastGoodScheduling() {
    String good = "scheduling: {plugins: [{type: lora-affinity-scorer}]}\n";
    String bad = "scheduling: {plugins: [{type: no-such-scorer}]}\n";
    applier.offer(
        inParts(document("good", bad).replace("8000", "8001"))
            .withLastGood(ConfigReaders.document("before", document("good", good))));
    runControl();
    PoolConfig now = Objects.requireNonNull(applied);
    assertThat(now.targetPorts()).containsExactly(8001);
    assertThat(now.scheduler().plugins()).extracting(p -> p.type()).containsExactly(SCORER);
    assertThat(refusal()).contains("no-such-scorer");
  }

  private void offerInParts(String text) {
    applier.offer(inParts(text));
    runControl();
  }

  private static ConfigOffer inParts(String text) {
    return switch (ConfigReaders.document("test", text)) {
      case ConfigOffer.Document read -> read.inParts();
      case ConfigOffer.Unreadable unreadable -> throw new AssertionError(unreadable.message());
    };
  }

  @Test
  void endpointsOfAFileCountWhateverBecomesOfTheConfigBesideThem(@TempDir Path folder)
      throws Exception {
    Path endpoints = folder.resolve("endpoints.yaml");
    Path config = folder.resolve("config.yaml");
    Files.writeString(endpoints, "endpoints: [{name: one, address: 127.0.0.1, port: 1}]");
    Files.writeString(config, GOOD);
    applier.offer(files(endpoints, config));
    runControl();

    Files.writeString(config, BAD);
    Files.writeString(endpoints, "endpoints: [{name: two, address: 127.0.0.1, port: 2}]");
    applier.offer(files(endpoints, config));
    runControl();
    assertThat(refusal()).contains("no-such-scorer");
    assertThat(Objects.requireNonNull(withIt).ready())
        .extracting(EndpointSpec::name)
        .containsExactly("two");

    Files.writeString(config, "no config");
    Files.writeString(endpoints, "endpoints: [{name: three, address: 127.0.0.1, port: 3}]");
    applier.offer(files(endpoints, config));
    runControl();
    assertThat(refusal()).contains("config.yaml");
    assertThat(withIt.ready()).extracting(EndpointSpec::name).containsExactly("three");
    assertThat(status.current().configHash()).isEqualTo(hashOf(GOOD));
  }

  /** What comes while another is being applied must not be lost, and not overtake it. */
  @Test
  void whatIsOfferedMeanwhileComesNext() {
    offer(GOOD);
    offer(OTHER);
    assertThat(told).isEmpty();
    runControl();
    assertThat(told).containsExactly("applied good", "applied other");
  }

  private static final String SCORER = "lora-affinity-scorer";

  private static ConfigOffer pool(String scheduling, int port) {
    return ConfigReaders.scheduling(
            "test",
            """
            apiVersion: inference.networking.x-k8s.io/v1alpha1
            kind: EndpointPickerConfig
            """
                + scheduling)
        .scheduling(
            new PoolConfig(
                "ns",
                "p",
                Map.of("app", "vllm"),
                List.of(port),
                "http",
                List.of(),
                SchedulerConfig.DEFAULT));
  }

  private static ConfigOffer files(Path endpoints, Path config) throws IOException {
    return ConfigReaders.files(FileState.read(List.of(endpoints, config)), endpoints, config);
  }

  static Stream<Throwable> failures() {
    return Stream.of(
        new IllegalStateException("broken"),
        new NoClassDefFoundError("com/example/Gone"),
        new StackOverflowError("deep"),
        new AssertionError("wrong"));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void aPluginThatCannotBeMadeIsARefusalThatNamesIt(Throwable failure) {
    ConfigApplier own = applier(List.of(new Broken(failure)));
    own.offer(ConfigReaders.document("test", GOOD));
    runControl();
    own.offer(
        ConfigReaders.document(
            "test",
            document(
                "good",
                """
                scheduling:
                  plugins:
                    - {type: queue-scorer}
                    - {type: broken-scorer, name: fine, parameters: {fails: false}}
                    - {type: broken-scorer, name: mine}
                    - {type: no-such-scorer}
                shadows:
                  - name: tried
                    scheduling:
                      plugins: [{type: broken-scorer, name: theirs}]
                """)));
    runControl();

    assertThat(refusal().lines())
        .hasSize(3)
        .contains(
            "test: scheduling.plugins[2] \"mine\" of type broken-scorer can't be made: "
                + failure
                + "; mend the plugin or take it out",
            "test: shadows[0].scheduling.plugins[0] \"theirs\" of type broken-scorer can't be"
                + " made: "
                + failure
                + "; mend the plugin or take it out")
        .anyMatch(line -> line.contains("no-such-scorer"));
    assertThat(status.current().configHash()).isEqualTo(hashOf(GOOD));
    assertThat(told).containsExactly("applied good", "refused");

    own.offer(ConfigReaders.document("test", OTHER));
    runControl();
    assertThat(status.current().refused()).isNull();
    assertThat(status.current().configHash()).isEqualTo(hashOf(OTHER));
  }

  @Test
  void aPluginThatStaysAsItIsKeepsWhatItLearnedWhateverWasRefusedMeanwhile() {
    Counted plugins = new Counted();
    ConfigApplier own = applier(List.of(plugins));
    String before = "scheduling: {plugins: [{type: counted, parameters: {rate: 1}}]}";
    offerTo(own, document("good", before));
    offerTo(own, document("other", before));
    offerTo(own, BAD);
    offerTo(own, document("good", before.replace("[{", "[{type: no-such-scorer}, {")));
    offerTo(own, document("third", before.replace("[{", "[{type: queue-scorer}, {")));
    assertThat(told)
        .containsExactly("applied good", "applied other", "refused", "refused", "applied third");
    assertThat(plugins.made).isEqualTo(1);

    offerTo(own, document("good", before.replace("rate: 1", "rate: 2")));
    assertThat(plugins.made).isEqualTo(2);
  }

  private void offerTo(ConfigApplier own, String text) {
    own.offer(ConfigReaders.document("test", text));
    runControl();
  }

  @Test
  void aPluginThatIsNoneIsARefusal() {
    applier(List.of(new Broken(null)))
        .offer(
            ConfigReaders.document(
                "test", document("good", "scheduling: {plugins: [{type: broken-scorer}]}")));
    assertThat(refusal()).contains("scheduling.plugins[0]").contains("create returned no plugin");
  }

  @Test
  void aPickerThatStartsOnARefusedConfigRunsTheLastGoodOneAndTells() {
    ConfigOffer bad = ConfigReaders.document("test", BAD);
    applier.offer(bad.withLastGood(ConfigReaders.document("before", GOOD)));
    runControl();

    assertThat(status.current().configHash()).isEqualTo(hashOf(GOOD));
    assertThat(refusal()).contains("no-such-scorer");
    assertThat(Objects.requireNonNull(status.current().refused()).hash())
        .isEqualTo(bad.configHash());

    offer(OTHER);
    runControl();
    assertThat(status.current().configHash()).isEqualTo(hashOf(OTHER));
    assertThat(status.current().refused()).isNull();

    applier.offer(bad.withLastGood(ConfigReaders.document("before", GOOD)));
    runControl();
    assertThat(status.current().configHash())
        .as("what runs stays, whatever is older")
        .isEqualTo(hashOf(OTHER));
  }

  @Test
  void theLogSaysWhatRunsInsteadOfWhatIsRefused() {
    List<ILoggingEvent> log =
        logged(
            () -> {
              offer(BAD);
              applier.offer(
                  ConfigReaders.document("test", "# again\n" + BAD)
                      .withLastGood(ConfigReaders.document("before", GOOD)));
              runControl();
              offer(BAD);
            });
    assertThat(log)
        .filteredOn(event -> event.getLevel().equals(Level.WARN))
        .extracting(ILoggingEvent::getFormattedMessage)
        .map(message -> message.replaceAll(": test:.*", ""))
        .containsExactly(
            "config refused, and there is no good one to run",
            "config refused, the last good one is tried",
            "config refused, the last good one stays");
  }

  /** It may have been mended to what it was before, or where only endpoints stand. */
  @Test
  void theLogSaysThatWhatWasRefusedIsGoodAgain() {
    List<ILoggingEvent> log =
        logged(
            () -> {
              offer(GOOD);
              runControl();
              offer(BAD);
              for (int i = 0; i < 3; i++) {
                offer("# mended " + i + "\n" + GOOD);
                runControl();
              }
            });
    assertThat(log)
        .extracting(ILoggingEvent::getFormattedMessage)
        .map(message -> message.replaceAll(" [0-9a-f]{8,}| from .*|: test:.*", ""))
        .containsExactly(
            "running config of pool default/good",
            "config refused, the last good one stays",
            "what was refused is good again: running config of pool default/good, as before");
  }

  /** What is said meanwhile, from INFO on. */
  private static List<ILoggingEvent> logged(Runnable meanwhile) {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(ConfigApplier.class);
    logger.addAppender(log);
    logger.setLevel(Level.INFO);
    try {
      meanwhile.run();
    } finally {
      logger.setLevel(null);
      logger.detachAppender(log);
    }
    return log.list;
  }

  private void offer(String text) {
    applier.offer(ConfigReaders.document("test", text));
  }

  private void runControl() {
    for (Runnable task = control.poll(); task != null; task = control.poll()) {
      task.run();
    }
  }

  private String refusal() {
    PickerReport.Refused refused = status.current().refused();
    return Objects.requireNonNull(refused, "nothing is refused").message();
  }

  private ConfigApplier applier(List<PluginFactory> plugins) {
    PoolLoop loop =
        new PoolLoop(new PoolCore(), ImmediateEventExecutor.INSTANCE, () -> 0, new Silent());
    return new ConfigApplier(
        new DocumentCompiler(plugins), loop, status, control::add, new Listener());
  }

  private static ConfigHash hashOf(String document) {
    return switch (ConfigReaders.document("test", document)) {
      case ConfigOffer.Document read -> read.configHash();
      case ConfigOffer.Unreadable unreadable -> throw new AssertionError(unreadable.message());
    };
  }

  private static String document(String name, String more) {
    return """
    apiVersion: fairlead.io/v1alpha1
    kind: PoolConfig
    pool: {namespace: default, name: %s, selector: {app: vllm}, targetPorts: [8000], appProtocol: http}
    models: []
    """
            .formatted(name)
        + more;
  }

  private final class Listener implements ConfigApplier.Listener {

    @Override
    public void follow(PoolConfig config, Consumer<@Nullable EndpointSet> found) {
      followed = config;
      if (holdEndpoints) {
        held.add(found);
      } else {
        found.accept(null);
      }
    }

    @Override
    public void found(EndpointSet endpoints) {
      told.add("found");
    }

    @Override
    public void applying(PoolConfig config) {
      if (whenApplying != null) {
        throw whenApplying;
      }
    }

    @Override
    public void applied(
        ConfigOffer.Document document, CompiledConfig config, @Nullable EndpointSet endpoints) {
      told.add("applied " + document.config().name());
      applied = document.config();
      withIt = endpoints;
    }

    @Override
    public void notApplied() {
      told.add("not applied");
    }

    @Override
    public void refused(ConfigOffer offer, String message) {
      told.add("refused");
    }
  }

  /** Fails to make a plugin, unless it is told not to. */
  private record Broken(@Nullable Throwable failure) implements PluginFactory {

    @Override
    public String type() {
      return "broken-scorer";
    }

    @Override
    @SuppressWarnings("NullAway") // a plugin author may have no NullAway
    public Plugin create(Parameters parameters) {
      if (!parameters.flag("fails", true)) {
        return (Scorer) (request, candidates, scores) -> {};
      }
      return switch (failure) {
        case RuntimeException e -> throw e;
        case Error e -> throw e;
        case null, default -> null;
      };
    }
  }

  private static final class Counted implements PluginFactory {

    private int made;

    @Override
    public String type() {
      return "counted";
    }

    @Override
    public Plugin create(Parameters parameters) {
      parameters.integer("rate", 1, 1, 9);
      made++;
      return (Scorer) (request, candidates, scores) -> {};
    }
  }

  private static final class Silent implements RequestObserver {

    @Override
    public void decided(long nanos) {}

    @Override
    public void sent(String model, Route route) {}

    @Override
    public void sentAgain(String model, Route route, @Nullable Failure failure) {}

    @Override
    public void firstToken(String model, Route route, long nanos) {}

    @Override
    public void ended(String model, Route route, Outcome outcome, Usage usage, long nanos) {}

    @Override
    public void rejected(String model, Rejection rejection) {}
  }
}
