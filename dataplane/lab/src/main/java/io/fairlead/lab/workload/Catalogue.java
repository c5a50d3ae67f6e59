package io.fairlead.lab.workload;

import static io.fairlead.lab.workload.Preset.Unit.IN_FLIGHT;
import static io.fairlead.lab.workload.Preset.Unit.REQUESTS_PER_SECOND;
import static io.fairlead.lab.workload.Preset.Unit.SESSIONS_PER_SECOND;

import io.fairlead.crds.config.Criticality;
import io.fairlead.lab.workload.ArrivalTimes.Surge;
import io.fairlead.lab.workload.Conversation.Manner;
import io.fairlead.lab.workload.Mix.Part;
import io.fairlead.lab.workload.Parties.Party;
import java.util.List;

/** The parameters of all workloads that ship. */
final class Catalogue {

  private static final String H100 = "8xh100-8b";
  private static final String LARGE = "8xh100x2-32b";
  private static final String SMALL = "3xh100-8b";
  private static final String PAIRED = "3xh100-8b:prefill+5xh100-8b:decode";
  private static final String MIXED = "3xh100-8b+3xa100-8b+2xl40s-8b";

  private static final double BURSTS = 4;
  private static final double CLOSED_LOOP_RATE = 800;

  private static final Callers ANYBODY = Callers.anybody();

  private static final Spread CHAT_PROMPT = Spread.logNormal(252, 330).clipped(4, 2_048);
  private static final Spread CHAT_ANSWER = Spread.logNormal(225, 260).clipped(3, 1_024);
  private static final Spread SHORT_QUESTION = Spread.logNormal(100, 80).clipped(4, 2_000);

  private static final Manner CHAT =
      new Manner(
          1_000,
          Spread.logNormal(2_500, 2_500).clipped(16, 30_000),
          SHORT_QUESTION,
          Spread.logNormal(250, 200).clipped(4, 2_000),
          Spread.geometric(5).clipped(1, 20),
          Spread.exponential(8));
  private static final Manner AGENT =
      new Manner(
          3_000,
          Spread.fixed(20_000),
          Spread.fixed(1_500),
          Spread.fixed(400),
          Spread.fixed(8),
          Spread.exponential(4));
  private static final Documents RAG =
      new Documents(
          200,
          500,
          Spread.logNormal(5_000, 4_000).clipped(1_000, 80_000),
          Spread.normal(55_000, 15_000).clipped(1_000, 80_000),
          SHORT_QUESTION,
          Spread.fixed(500));
  private static final PrefixGroups B2B =
      new PrefixGroups(
          150,
          5,
          6_000,
          Spread.normal(1_200, 360).clipped(16, 3_000),
          Spread.normal(1_000, 300).clipped(16, 2_500));

  private static final PrefixGroups TASKS =
      new PrefixGroups(300, 16, 2_000, Spread.exponential(120).clipped(1, 2_000), Spread.fixed(6));

  /** All of them, in the order of the documentation. */
  static final List<Entry> ENTRIES =
      List.of(
          gsp("gsp-high", "a long system prompt per group, short questions", 2_048, 256),
          gsp("gsp-low", "a short system prompt per group, long questions", 256, 2_048),
          new Entry(
              new Preset(
                  "b2b",
                  "tenants with long system prompts and the same few questions",
                  7,
                  REQUESTS_PER_SECOND,
                  LARGE,
                  720,
                  120),
              ANYBODY.models(),
              (rate, seed) -> new OpenLoop(poisson(rate, seed), B2B.inRounds(seed))),
          sharegpt("sharegpt-low-hit", "short chats that share nothing", 400, H100, 1),
          sessions("chat", "conversations of people", 10, H100, 480, 120, CHAT),
          sessions("agent", "a long context that tools add to", 0.45, LARGE, 1_440, 240, AGENT),
          new Entry(
              new Preset(
                  "rag",
                  "questions about documents, few of them asked about often",
                  8,
                  REQUESTS_PER_SECOND,
                  H100,
                  720,
                  120),
              ANYBODY.models(),
              (rate, seed) -> new OpenLoop(poisson(rate, seed), RAG.requests(seed))),
          new Entry(
              new Preset(
                  "tasks",
                  "many tasks with long instructions, answers of a few tokens",
                  250,
                  REQUESTS_PER_SECOND,
                  "6xa100-8b",
                  90,
                  20),
              ANYBODY.models(),
              (rate, seed) -> new OpenLoop(poisson(rate, seed), TASKS.everNew(seed))),
          singles(
              new Preset(
                  "reasoning",
                  "short questions, very long answers",
                  5,
                  REQUESTS_PER_SECOND,
                  H100,
                  1_500,
                  300),
              ANYBODY,
              1,
              250,
              Spread.fixed(750),
              Spread.exponential(4_000).clipped(1, 32_000)),
          singles(
              new Preset(
                  "long-answers",
                  "short questions, long answers: small servers' caches fill",
                  2.5,
                  REQUESTS_PER_SECOND,
                  "6xl40s-8b",
                  900,
                  200),
              ANYBODY,
              1,
              0,
              CHAT_PROMPT,
              Spread.logNormal(3_000, 3_000).clipped(16, 16_000)),
          singles(
              new Preset(
                  "bimodal",
                  "short questions, answers of a few tokens or of thousands",
                  28,
                  REQUESTS_PER_SECOND,
                  H100,
                  600,
                  120),
              ANYBODY,
              1,
              0,
              CHAT_PROMPT,
              Spread.either(Spread.fixed(8), Spread.fixed(4_000), 0.5)),
          sharegpt("bursty", "short chats that come in bursts", 450, H100, BURSTS),
          new Entry(
              new Preset(
                  "mixed-shared",
                  "shared system prompts on unlike hardware",
                  75,
                  REQUESTS_PER_SECOND,
                  MIXED,
                  300,
                  60),
              ANYBODY.models(),
              (rate, seed) ->
                  new OpenLoop(
                      poisson(rate, seed),
                      new PrefixGroups(64, 16, 2_048, Spread.fixed(256), Spread.fixed(256))
                          .everNew(seed))),
          singles(
              new Preset(
                  "long-prompts",
                  "long prompts that share nothing, computed by some servers for the others",
                  10,
                  REQUESTS_PER_SECOND,
                  PAIRED,
                  300,
                  60),
              ANYBODY,
              1,
              0,
              Spread.logNormal(5_000, 4_000).clipped(200, 30_000),
              Spread.logNormal(400, 300).clipped(8, 2_000)),
          sharegpt("mixed-sharegpt", "short chats on unlike hardware", 270, MIXED, 1),
          lora(32, 150),
          lora(64, 120),
          singles(
              new Preset(
                  "priority",
                  "three criticalities of four tenants each, about as much as can be served",
                  195,
                  REQUESTS_PER_SECOND,
                  SMALL,
                  180,
                  30),
              Callers.ofBands(0.2, 0.5),
              1,
              0,
              CHAT_PROMPT,
              CHAT_ANSWER),
          overloaded(
              new Preset(
                  "overload-2x",
                  "the criticalities of priority; for two minutes twice what can be served",
                  370,
                  REQUESTS_PER_SECOND,
                  SMALL,
                  300,
                  30),
              1),
          overloaded(
              new Preset(
                  "overload-bursty",
                  "the same in bursts, half as much again as can be served",
                  280,
                  REQUESTS_PER_SECOND,
                  SMALL,
                  300,
                  30),
              BURSTS),
          singles(
              new Preset(
                  "scale-from-zero",
                  "the criticalities of priority; there is no server for the first minute",
                  120,
                  REQUESTS_PER_SECOND,
                  SMALL,
                  120,
                  0,
                  "from-zero"),
              Callers.ofBands(0.2, 0.5),
              1,
              0,
              CHAT_PROMPT,
              CHAT_ANSWER),
          parties(
              new Preset(
                  "noisy-neighbour",
                  "one of five asks for ten times as much as each other",
                  257,
                  REQUESTS_PER_SECOND,
                  SMALL,
                  180,
                  30),
              new Parties(
                  List.of(
                      chatting("noisy", Criticality.STANDARD, 0.72),
                      chatting("quiet-1", Criticality.STANDARD, 0.07),
                      chatting("quiet-2", Criticality.STANDARD, 0.07),
                      chatting("quiet-3", Criticality.STANDARD, 0.07),
                      chatting("quiet-4", Criticality.STANDARD, 0.07)))),
          parties(
              new Preset(
                  "priority-inversion",
                  "long sheddable work fills servers before short critical requests come",
                  100,
                  REQUESTS_PER_SECOND,
                  SMALL,
                  240,
                  60),
              new Parties(
                  List.of(
                      chatting("critical", Criticality.CRITICAL, 0.4),
                      new Party(
                          "batch",
                          Criticality.SHEDDABLE,
                          0.6,
                          Spread.logNormal(4_000, 2_000).clipped(100, 16_000),
                          Spread.exponential(1_000).clipped(8, 8_000))))),
          parties(
              new Preset(
                  "mixed-slo",
                  "chats, questions about documents, and long answers that can be dropped",
                  150,
                  REQUESTS_PER_SECOND,
                  SMALL,
                  240,
                  60),
              new Parties(
                  List.of(
                      chatting("chat", Criticality.CRITICAL, 0.5),
                      new Party(
                          "documents",
                          Criticality.STANDARD,
                          0.1,
                          Spread.logNormal(8_000, 4_000).clipped(500, 30_000),
                          Spread.exponential(300).clipped(8, 2_000)),
                      new Party(
                          "drafts",
                          Criticality.SHEDDABLE,
                          0.4,
                          CHAT_PROMPT,
                          Spread.exponential(600).clipped(8, 4_000))))),
          parties(
              new Preset(
                  "asked-slo",
                  "the parties of mixed-slo, each of which says within what time it wants tokens",
                  50,
                  REQUESTS_PER_SECOND,
                  SMALL,
                  240,
                  60),
              new Parties(
                  List.of(
                      chatting("chat", Criticality.CRITICAL, 0.5).within(300, 30),
                      new Party(
                              "documents",
                              Criticality.STANDARD,
                              0.1,
                              Spread.logNormal(8_000, 4_000).clipped(500, 30_000),
                              Spread.exponential(300).clipped(8, 2_000))
                          .within(2_000, 60),
                      new Party(
                              "drafts",
                              Criticality.SHEDDABLE,
                              0.4,
                              CHAT_PROMPT,
                              Spread.exponential(600).clipped(8, 4_000))
                          .within(5_000, 60)))));

  private Catalogue() {}

  /**
   * A workload to be.
   *
   * @param preset what is told of it
   * @param models all that are asked for
   * @param start makes a run's requests
   */
  record Entry(Preset preset, List<ServedModel> models, Start start) {}

  /** Makes a run's requests. */
  interface Start {
    Traffic begin(double load, long seed);
  }

  private static Entry gsp(String name, String summary, int system, int question) {
    var groups = new PrefixGroups(256, 16, system, Spread.fixed(question), Spread.fixed(256));
    return new Entry(
        new Preset(name, summary, 300, IN_FLIGHT, SMALL, 1_200, 0),
        ANYBODY.models(),
        (inFlight, seed) ->
            new ClosedLoop(
                (int) Math.max(1, Math.round(inFlight)),
                groups.prompts(),
                poisson(CLOSED_LOOP_RATE, seed),
                groups.inRounds(seed)));
  }

  private static Entry sharegpt(String name, String summary, double rate, String pool, double cv) {
    return singles(
        new Preset(name, summary, rate, REQUESTS_PER_SECOND, pool, 150, 30),
        ANYBODY,
        cv,
        0,
        CHAT_PROMPT,
        CHAT_ANSWER);
  }

  /** A third of it before and after. */
  private static Entry overloaded(Preset preset, double cv) {
    Callers callers = Callers.ofBands(0.2, 0.5);
    return new Entry(
        preset,
        callers.models(),
        (rate, seed) ->
            new OpenLoop(
                new ArrivalTimes(
                    gaps(rate / 3, cv), Mix.random(seed, Part.ARRIVALS, 0), new Surge(60, 180, 3)),
                new Singles(0, CHAT_PROMPT, CHAT_ANSWER, callers.draw()).requests(seed)));
  }

  private static Party chatting(String model, Criticality criticality, double share) {
    return new Party(model, criticality, share, CHAT_PROMPT, CHAT_ANSWER);
  }

  private static Entry parties(Preset preset, Parties parties) {
    return new Entry(
        preset,
        parties.models(),
        (rate, seed) -> new OpenLoop(poisson(rate, seed), parties.requests(seed)));
  }

  private static Entry lora(int adapters, double rate) {
    return singles(
        new Preset(
            "lora-" + adapters,
            "short chats with " + adapters + " adapters, few of them used often",
            rate,
            REQUESTS_PER_SECOND,
            H100,
            210,
            30),
        Callers.ofAdapters(adapters),
        1,
        0,
        CHAT_PROMPT,
        CHAT_ANSWER);
  }

  private static Entry sessions(
      String name,
      String summary,
      double rate,
      String pool,
      double seconds,
      double warmUpSeconds,
      Manner manner) {
    return new Entry(
        new Preset(name, summary, rate, SESSIONS_PER_SECOND, pool, seconds, warmUpSeconds),
        ANYBODY.models(),
        (load, seed) -> new Sessions(poisson(load, seed), n -> manner.begin(seed, n)));
  }

  private static Entry singles(
      Preset preset, Callers callers, double cv, int system, Spread question, Spread output) {
    return new Entry(
        preset,
        callers.models(),
        (rate, seed) ->
            new OpenLoop(
                new ArrivalTimes(gaps(rate, cv), Mix.random(seed, Part.ARRIVALS, 0)),
                new Singles(system, question, output, callers.draw()).requests(seed)));
  }

  private static ArrivalTimes poisson(double rate, long seed) {
    return new ArrivalTimes(gaps(rate, 1), Mix.random(seed, Part.ARRIVALS, 0));
  }

  private static Spread gaps(double rate, double cv) {
    return cv == 1 ? Spread.exponential(1 / rate) : Spread.gamma(1 / rate, cv);
  }
}
