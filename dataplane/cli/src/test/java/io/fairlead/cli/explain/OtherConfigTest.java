package io.fairlead.cli.explain;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.PromptSize;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.Timeouts;
import io.fairlead.core.Usage;
import io.fairlead.core.plugins.BuiltInPlugins;
import io.fairlead.core.receipt.DecidedRequest;
import io.fairlead.core.receipt.KeptRequest;
import io.fairlead.core.receipt.NamedRequest;
import io.fairlead.core.receipt.ReceiptFilter;
import io.fairlead.epp.TriedConfig;
import io.fairlead.epp.status.DecisionPage;
import io.fairlead.epp.status.OutEndpoints;
import io.fairlead.plugin.PluginFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a picker tells of a decision, as JSON, is decided again. */
class OtherConfigTest {

  private static final long MILLISECOND = 1_000_000;
  private static final int EVENTS = 60;

  private static final List<String> SCORERS =
      List.of(
          "{type: active-request-scorer}",
          "{type: context-length-aware}",
          "{type: endpoint-attribute-scorer, parameters: {attributeKey: heat,"
              + " algorithm: {type: linear_lower_is_better}}}",
          "{type: header-label-affinity-scorer, parameters: {headerName: x-tier, labelKey: tier}}",
          "{type: kv-cache-utilization-scorer}",
          "{type: load-aware-scorer}",
          "{type: lora-affinity-scorer}",
          "{type: no-hit-lru-scorer}",
          "{type: precise-prefix-cache-scorer}",
          "{type: prefix-cache-scorer}",
          "{type: queue-scorer}",
          "{type: running-requests-size-scorer}",
          "{type: session-affinity-scorer}",
          "{type: token-load-scorer}",
          "{type: topology-affinity-scorer}",
          "{type: work-cost}");

  private static final List<String> PICKERS =
      List.of(
          "{type: consistent-hash-picker}",
          "{type: consistent-hash-picker, parameters: {key: session, loadFactor: 1}}",
          "{type: max-score-picker, parameters: {maxNumOfEndpoints: 2}}",
          "{type: random-picker}",
          "{type: weighted-random-picker}");

  @TempDir private Path temporary;

  private SplittableRandom random = new SplittableRandom(1);
  private final List<EndpointSpec> endpoints = new ArrayList<>();
  private final List<Long> open = new ArrayList<>();
  private long now = 1;

  /** Whoever adds a scorer or a picker lists it here. */
  @Test
  void knowsAllThatScoreAndPick() {
    String listed = String.join(" ", SCORERS) + String.join(" ", PICKERS);
    assertThat(BuiltInPlugins.factories().stream().map(PluginFactory::type))
        .filteredOn(type -> type.endsWith("-scorer") || type.endsWith("-picker"))
        .allSatisfy(type -> assertThat(listed).contains("{type: " + type));
  }

  /** Of a large pool not all is told: what plugins made of all of it counts all the same. */
  @ParameterizedTest
  @ValueSource(ints = {8, 40, 200})
  void theConfigThatWasInForcePicksTheSameEndpoint(int count) throws IOException {
    List<String> schedulings = new ArrayList<>(SCORERS);
    PICKERS.forEach(picker -> schedulings.add("{type: queue-scorer}, " + picker));
    PICKERS.forEach(picker -> schedulings.add("{type: kv-cache-utilization-scorer}, " + picker));
    schedulings.add(String.join(", ", SCORERS));
    schedulings.add(
        "{type: by-label, parameters: {label: tier, validValues: [gold]}}, {type: queue-scorer},"
            + " {type: prefix-cache-scorer}");
    for (String scheduling : schedulings) {
      assertThat(replayed(scheduling, count)).as(scheduling).isGreaterThan(EVENTS / 3);
    }
  }

  /** As a picker has told it that showed hashes of prompts. */
  private static String asBefore(String page) throws IOException {
    JsonNode tree = new ObjectMapper().readTree(page);
    for (JsonNode decision : tree.path("decisions")) {
      ((ObjectNode) decision.path("inputs").path("request")).put("prefixKey", 31);
    }
    return tree.toString();
  }

  /** Serves some requests, decides each again, and returns how many that were. */
  private int replayed(String plugins, int count) throws IOException {
    Path file = temporary.resolve("same.yaml");
    Files.writeString(
        file,
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha1
        kind: EndpointPickerConfig
        plugins: [%s]
        """
            .formatted(plugins));
    PoolCore core = serve(Files.readString(file), count);
    DecisionPage pages = new DecisionPage(new OutEndpoints(Instant.EPOCH, 0));
    ReceiptReader reader = new ReceiptReader("told");
    OtherConfig same = OtherConfig.read(file);
    int replayed = 0;
    for (DecidedRequest request : core.receipts().newest(ReceiptFilter.ANY, 1_000)) {
      KeptRequest kept = Objects.requireNonNull(core.receipts().find(request.id()));
      String told = pages.of(new NamedRequest(kept, 1, 1));
      ReceiptPage page = reader.receipt(count == 8 ? asBefore(told) : told);
      List<OtherDecision> again = same.decide(page, reader);
      for (int i = 0; i < page.decisions().size(); i++) {
        OtherDecision other = again.get(i);
        assertThat(other.leftOut()).as("%s: %s", plugins, other.why()).isEmpty();
        assertThat(Objects.requireNonNull(other.made(), other.why()).endpoint())
            .as("%s, which says again %s", plugins, other.repeated())
            .isEqualTo(page.decisions().get(i).endpoint());
        replayed++;
      }
    }
    return replayed;
  }

  private PoolCore serve(String config, int count) throws IOException {
    random = new SplittableRandom(count);
    open.clear();
    PoolCore core = new PoolCore(new PoolLimits(4, 100, 1_000, 1 << 20, 1 << 20, 8 << 20));
    core.configure(now, TriedConfig.read("same", config).compile());
    endpoints.clear();
    for (int i = 0; i < count; i++) {
      endpoints.add(
          new EndpointSpec(
              "e" + i,
              "1",
              "10.0.0." + i,
              8000,
              Map.of(
                  "tier",
                  random.nextInt(3) == 0 ? "iron" : "gold",
                  "topology.kubernetes.io/zone",
                  "z" + random.nextInt(2),
                  "llm-d.ai/context-length-range",
                  random.nextBoolean() ? "0-400" : "0-99999")));
    }
    core.endpoints(now, endpoints);
    endpoints.forEach(endpoint -> scrape(core, endpoint));
    for (int i = 0; i < EVENTS; i++) {
      now += random.nextLong(50 * MILLISECOND);
      switch (random.nextInt(8)) {
        case 0, 1 -> scrape(core, endpoints.get(random.nextInt(count)));
        case 2 -> {
          if (!open.isEmpty()) {
            long ticket = open.remove(random.nextInt(open.size()));
            core.firstByte(now, ticket);
            core.ended(now, ticket, Outcome.COMPLETED, new Usage(100, 20, 0));
          }
        }
        default -> open.add(core.arrive(now, request(i), new Nobody()));
      }
    }
    return core;
  }

  private void scrape(PoolCore core, EndpointSpec endpoint) {
    core.scraped(
        now,
        endpoint,
        now,
        new EndpointMetrics(
            random.nextInt(20),
            random.nextInt(20),
            random.nextDouble(),
            16,
            1_000,
            "base",
            2,
            random.nextBoolean() ? List.of("m") : List.of(),
            List.of(),
            Map.of("heat", 10 * random.nextDouble())));
  }

  private RequestFacts request(int number) {
    long[] blocks = new long[1 + random.nextInt(30)];
    Arrays.setAll(blocks, i -> i < 20 ? i : random.nextInt(3));
    Map<String, String> headers = new HashMap<>();
    Stream.of("x-tier", "x-session-id")
        .filter(name -> random.nextBoolean())
        .forEach(name -> headers.put(name, random.nextBoolean() ? "gold" : "iron"));
    return new RequestFacts(
        "r" + number,
        "m",
        random.nextLong(),
        blocks,
        PromptSize.ofTokens(16 * blocks.length),
        50,
        1_000,
        RequestFacts.Delivery.STREAMED,
        Timeouts.UNSET,
        headers::get,
        null);
  }

  /** Who is told of what becomes of a request. */
  private static final class Nobody implements RequestListener {

    @Override
    public void send(long request, Route route) {}

    @Override
    public void pass(long request) {}

    @Override
    public void reject(long request, Rejection rejection) {}
  }
}
