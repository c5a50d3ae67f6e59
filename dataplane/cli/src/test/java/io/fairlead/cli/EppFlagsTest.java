package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.tls.EndpointSecurity;
import io.fairlead.epp.tracing.Tracing;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Every flag of upstream's pickers, of all its releases that have these, does what it says. */
final class EppFlagsTest {

  /** What becomes of a flag. */
  enum Does {
    /** What the data plane is made of changes. */
    CARRIED,
    /** What is logged changes. */
    LOGS,
    /** Nothing; said so. */
    NOTHING,
    /** Nothing, as it is what is done anyway. */
    SILENT,
    /** It is an error. */
    REFUSED
  }

  record Flag(String name, String value, Does does) {}

  /** Name, a value that isn't the default, and what becomes of it. */
  private static final List<Flag> FLAGS =
      """
      grpc-port                                       | 19002                     | CARRIED
      grpc-health-port                                | 19003                     | CARRIED
      metrics-port                                    | 19090                     | CARRIED
      pool-name                                       | other                     | CARRIED
      pool-namespace                                  | other                     | CARRIED
      pool-group                                      | inference.networking.x-k8s.io | CARRIED
      config-file                                     | /config/plugins.yaml      | CARRIED
      config-text                                     | kind: X                   | CARRIED
      disable-endpoint-subset-filter                  | true                      | CARRIED
      refresh-metrics-interval                        | 50ms                      | CARRIED
      metrics-staleness-threshold                     | 2s                        | CARRIED
      model-server-metrics-scheme                     | https                     | CARRIED
      model-server-metrics-path                       | /m                        | CARRIED
      model-server-metrics-port                       | 9400                      | CARRIED
      model-server-metrics-https-insecure-skip-verify | false                     | CARRIED
      secure-serving                                  | false                     | CARRIED
      cert-path                                       | /certs                    | CARRIED
      drain-timeout                                   | 1m30s                     | CARRIED
      v                                               | 4                         | LOGS
      zap-log-level                                   | error                     | LOGS
      zap-encoder                                     | json                      | SILENT
      ha-enable-leader-election                       | true                      | NOTHING
      ha-enable-leader-election                       | false                     | SILENT
      health-checking                                 | true                      | SILENT
      health-checking                                 | false                     | NOTHING
      metrics-endpoint-auth                           | true                      | CARRIED
      metrics-endpoint-auth                           | false                     | SILENT
      enable-pprof                                    | true                      | NOTHING
      enable-pprof                                    | false                     | SILENT
      tracing                                         | true                      | CARRIED
      tracing                                         | false                     | SILENT
      enable-cert-reload                              | true                      | SILENT
      enable-cert-reload                              | false                     | NOTHING
      enable-multi-engine                             | true                      | SILENT
      engine-label-key                                | x                         | NOTHING
      refresh-prometheus-metrics-interval             | 1s                        | NOTHING
      zap-devel                                       | true                      | NOTHING
      zap-stacktrace-level                            | error                     | NOTHING
      zap-time-encoding                               | iso8601                   | NOTHING
      grpc-max-recv-msg-size                          | 10MiB                     | NOTHING
      grpc-max-send-msg-size                          | 10MiB                     | NOTHING
      emit-endpoint-scores                            | true                      | NOTHING
      tls-min-version                                 | VersionTLS13              | NOTHING
      tls-cipher-suites                               | TLS_AES_128_GCM_SHA256    | NOTHING
      metrics-client-ca-file                          | /ca.pem                   | NOTHING
      metrics-cert-dir                                | /certs                    | NOTHING
      enable-grpc-stream-metrics                      | true                      | SILENT
      allow-experimental-plugins                      | true                      | SILENT
      total-queued-requests-metric                    | q                         | REFUSED
      total-running-requests-metric                   | r                         | REFUSED
      kv-cache-usage-percentage-metric                | k                         | REFUSED
      lora-info-metric                                | l                         | REFUSED
      cache-info-metric                               | c                         | REFUSED
      """
          .lines()
          .map(line -> line.split("\\|", -1))
          .map(part -> new Flag(part[0].strip(), part[1].strip(), Does.valueOf(part[2].strip())))
          .toList();

  private static final Map<String, String> NOWHERE = Map.of();

  private record Run(DataPlaneConfig config, @Nullable Level level, List<String> logged) {}

  @ParameterizedTest
  @FieldSource("FLAGS")
  void doesWhatItSaysInBothSpellings(Flag flag) {
    List<String> usual = flag.name().equals("pool-name") ? List.of() : List.of("--pool-name=p");
    Run without = run("--pool-name=p");
    for (List<String> spelt :
        List.of(
            List.of("--" + flag.name() + "=" + flag.value()),
            List.of("--" + flag.name(), flag.value()))) {
      String[] args = Stream.concat(usual.stream(), spelt.stream()).toArray(String[]::new);
      if (flag.does() == Does.REFUSED) {
        assertThatThrownBy(() -> run(args))
            .isInstanceOf(ParameterException.class)
            .hasMessageContaining("--" + flag.name())
            .hasMessageContaining("engineConfigs");
        continue;
      }
      Run with = run(args);
      if (flag.does() == Does.CARRIED) {
        assertThat(with.config()).isNotEqualTo(without.config());
      } else {
        assertThat(with.config()).isEqualTo(without.config());
      }
      if (flag.does() == Does.LOGS) {
        assertThat(with.level()).isNotEqualTo(without.level());
      } else {
        assertThat(with.level()).isEqualTo(without.level());
      }
      if (flag.does() == Does.NOTHING) {
        assertThat(with.logged())
            .singleElement()
            .asString()
            .startsWith("--" + flag.name() + "=" + flag.value() + " has no effect: ");
      } else {
        assertThat(with.logged()).isEmpty();
      }
    }
  }

  @Test
  void everyFlagWithoutEffectIsTried() {
    assertThat(FLAGS)
        .extracting(flag -> "--" + flag.name())
        .containsAll(EppFlags.WITHOUT_EFFECT.stream().map(UpstreamFlag::name).toList());
  }

  @Test
  void podsAreSelectedWithoutAPool() {
    Run run = run("--endpoint-selector", "app=vllm,tier=", "--endpoint-target-ports", "3000,3001");
    assertThat(run.config().source().toString())
        .contains("app=vllm", "tier=", "ports=[3000, 3001]");
    assertThat(run("--endpoint-selector=a=b", "--endpoint-target-ports=1,1,2").config().source())
        .hasToString(
            run("--endpoint-selector=a=b", "--endpoint-target-ports=1", "--endpoint-target-ports=2")
                .config()
                .source()
                .toString());
  }

  @Test
  void theNamespaceIsTheFlagsOrTheEnvironments() {
    assertThat(source(Map.of(), "--pool-name=p")).contains("namespace=default");
    assertThat(source(Map.of("POD_NAMESPACE", "pod"), "--pool-name=p")).contains("namespace=pod");
    assertThat(source(Map.of("NAMESPACE", "env", "POD_NAMESPACE", "pod"), "--pool-name=p"))
        .contains("namespace=env");
    assertThat(source(Map.of("NAMESPACE", "env"), "--pool-name=p", "--pool-namespace=flag"))
        .contains("namespace=flag");
    assertThat(source(Map.of("NAMESPACE", "env"), "--pool-name=p", "--pool-namespace="))
        .contains("namespace=env");
  }

  @Test
  void booleansNeedNoValueAndAreReadAsGoReadsThem() {
    assertThat(run("--pool-name=p", "--disable-endpoint-subset-filter").config())
        .isEqualTo(run("--pool-name=p", "--disable-endpoint-subset-filter=T").config())
        .isNotEqualTo(run("--pool-name=p", "--disable-endpoint-subset-filter=0").config());
    assertThat(run("--ha-enable-leader-election", "--pool-name", "p").logged()).hasSize(1);
    assertThat(error("--pool-name=p", "--secure-serving=maybe"))
        .contains("--secure-serving", "'maybe' is neither true nor false");
  }

  @Test
  void verbosityHasAShortFlag() {
    for (String[] args : new String[][] {{"-v", "5"}, {"-v=5"}, {"-v5"}, {"--v=5"}, {"--v", "5"}}) {
      List<String> all = new ArrayList<>(List.of(args));
      all.add("--pool-name=p");
      assertThat(run(all.toArray(String[]::new)).level()).isEqualTo(Level.TRACE);
    }
    assertThat(run("--pool-name=p", "-v=1").level()).isEqualTo(Level.INFO);
    assertThat(run("--pool-name=p", "-v=1", "--zap-log-level=4").level()).isEqualTo(Level.DEBUG);
  }

  @Test
  void ofAFlagGivenTwiceTheLastCounts() {
    assertThat(run("--pool-name=p", "--grpc-port=1", "--grpc-port=2").config())
        .isEqualTo(run("--pool-name=p", "--grpc-port=2").config());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "--pool-nam=x          | unknown flag --pool-nam; is it --pool-name?",
        "-poolName x           | unknown flag -poolName; is it --pool-name?",
        "--metric-port=1       | unknown flag --metric-port; is it --metrics-port?",
        "--grpc-prot 1         | unknown flag --grpc-prot; is it --grpc-port?",
        "--tracin              | unknown flag --tracin; is it --tracing?",
        "--something-else=1    | unknown flag --something-else; 'fairlead epp --help' has",
        "surplus               | 'surplus' is no flag",
        "--pool-name=p --endpoint-selector=a=b | --pool-name or --endpoint-selector, not both",
        "--endpoint-selector=a=b | --endpoint-target-ports needs 1 to 8 ports",
        "--endpoint-selector=a=b --endpoint-target-ports=0 | has 0; set ports from 1 to 65535",
        "--endpoint-selector=a!=b --endpoint-target-ports=1 | write labels as key=value",
        "--endpoint-selector=a --endpoint-target-ports=1 | --endpoint-selector has \"a\"",
        "--picker-service=s --endpoints=f | --picker-service goes without --endpoints",
        "--picker-service=s --pool-name=p --config-map=m | --picker-service goes without",
        "--pool-name=p --config-file=f --config-text=t | --config-file or --config-text, not both",
        "--pool-name=p --pool-group=inference.networking.k8s.oi | set inference.networking.k8s.io",
        "--pool-name=p --model-server-metrics-scheme=ftp | is \"ftp\"; set http or https",
        "--pool-name=p --model-server-metrics-path=m | is \"m\"; start it with /",
        "--pool-name=p --zap-encoder=xml | is \"xml\"; set json or console",
        "--pool-name=p --zap-log-level=loud | is \"loud\"; set debug, info",
        "--pool-name=p --endpoint-ca-file=f | --endpoint-ca-file needs --endpoint-tls",
        "--pool-name=p --endpoint-tls --endpoint-insecure-skip-verify --endpoint-server-name=n | takes any certificate",
        "--pool-name=p --tracing-ratio=1.5 | --tracing-ratio is \"1.5\"; set 0 to 1",
        "--pool-name=p --drain-timeout=soon | 'soon' is not a duration",
        "--pool-name=p --config-map=m --config-file=f | go without --config-map",
        "--picker=x            | --picker needs --config-map or --pool-name",
        "--endpoints=e --config-text=t | write the text of --config-text to a file",
        "--grpc-port=9002      | Say where the endpoints come from",
      })
  void aWrongCommandLineIsTold(String args, String problem) {
    assertThat(error(args.strip().split(" ", -1))).contains(problem);
  }

  @Test
  void flagsAloneAreThoseOfAPicker() {
    assertThat(Fairlead.withCommand(new String[] {"--pool-name", "p"}))
        .containsExactly("epp", "--pool-name", "p");
    for (String[] own : new String[][] {{"--help"}, {"-V"}, {"gateway", "--help"}, {}}) {
      assertThat(Fairlead.withCommand(own)).isEqualTo(own);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "                        |                                               | false",
        "                        | OTEL_SERVICE_NAME=x                           | false",
        "--tracing               |                                               | true",
        "--tracing-endpoint=u    |                                               | true",
        "                        | OTEL_EXPORTER_OTLP_ENDPOINT=u                 | true",
        "                        | OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=u          | true",
        "--tracing=false         | OTEL_EXPORTER_OTLP_ENDPOINT=u                 | false",
        "--tracing               | OTEL_SDK_DISABLED=true                        | false",
        "--tracing               | OTEL_TRACES_EXPORTER=none                     | false",
      })
  void spansAreSentWhereSomebodySaysWhere(
      @Nullable String flag, @Nullable String variable, boolean sent) {
    String[] args =
        flag == null ? new String[] {"--pool-name=p"} : new String[] {"--pool-name=p", flag};
    Map<String, String> environment =
        variable == null ? NOWHERE : Map.of(variable.split("=", -1)[0], variable.split("=", -1)[1]);
    assertThat(command(args).config(environment).tracing() != null).isEqualTo(sent);
  }

  @Test
  void endpointsAreSpokenToAsTheFlagsSay() {
    DataPlaneConfig plain = run("--pool-name=p").config();
    assertThat(plain.endpoints()).isEqualTo(new EndpointSecurity.PlainText());
    assertThat(plain.scraping().pages().tls()).isFalse();

    DataPlaneConfig tls =
        run(
                "--pool-name=p",
                "--endpoint-tls",
                "--endpoint-ca-file=/ca.pem",
                "--endpoint-server-name=vllm")
            .config();
    assertThat(tls.endpoints())
        .isEqualTo(new EndpointSecurity.Verified(Path.of("/ca.pem"), "vllm"));
    assertThat(tls.scraping().pages().tls()).as("metrics, too").isTrue();

    DataPlaneConfig unverified =
        run(
                "--pool-name=p",
                "--endpoint-tls",
                "--endpoint-insecure-skip-verify",
                "--model-server-metrics-scheme=http")
            .config();
    assertThat(unverified.endpoints()).isEqualTo(new EndpointSecurity.Unverified());
    assertThat(unverified.scraping().pages().tls()).as("but for what says otherwise").isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "--model-server-metrics-scheme=https, true",
    "--model-server-metrics-https-insecure-skip-verify=true, false",
    "--model-server-metrics-https-insecure-skip-verify=false, false",
  })
  void metricsAreTrustedAsRequestsAreUnlessAFlagSaysHow(String flag, boolean asRequests) {
    DataPlaneConfig config =
        run("--pool-name=p", "--endpoint-tls", "--endpoint-ca-file=/ca.pem", flag).config();
    assertThat(config.scraping().pages().tls()).isTrue();
    assertThat(config.scraping().asRequests()).isEqualTo(asRequests);
  }

  @Test
  void spansAreSetByFlags() {
    assertThat(
            command("--pool-name=p", "--tracing-endpoint=http://c:4317", "--tracing-ratio=0.25")
                .config(NOWHERE)
                .tracing())
        .isEqualTo(new Tracing.Settings("fairlead", "http://c:4317", 0.25));
  }

  private static String source(Map<String, String> environment, String... args) {
    return command(args).config(environment).source().toString();
  }

  private static EppCommand command(String... args) {
    String[] all = Stream.concat(Stream.of("epp"), Stream.of(args)).toArray(String[]::new);
    return (EppCommand)
        Fairlead.commandLine().parseArgs(all).subcommand().commandSpec().userObject();
  }

  private static Run run(String... args) {
    EppCommand command = command(args);
    Logger logger = (Logger) LoggerFactory.getLogger(EppFlags.class);
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    logger.addAppender(log);
    try {
      DataPlaneConfig config = command.config(NOWHERE);
      command.tell();
      return new Run(
          config,
          command.log().level(),
          log.list.stream().map(ILoggingEvent::getFormattedMessage).toList());
    } finally {
      logger.detachAppender(log);
    }
  }

  /** What a wrong command line prints. Nothing is started, as it is wrong. */
  private static String error(String... args) {
    CommandLine commandLine = Fairlead.commandLine();
    var err = new StringWriter();
    commandLine.setErr(new PrintWriter(err));
    String[] all = Stream.concat(Stream.of("epp"), Stream.of(args)).toArray(String[]::new);
    assertThat(commandLine.execute(all)).isEqualTo(2);
    return err.toString();
  }
}
