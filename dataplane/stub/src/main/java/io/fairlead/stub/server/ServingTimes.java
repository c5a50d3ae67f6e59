package io.fairlead.stub.server;

import java.util.List;

/**
 * What vLLM keeps in histograms, of steps and of requests that have ended. Seconds are those of the
 * wall, as a client sees them.
 */
final class ServingTimes {

  private static final double[] STEPS = {
    1, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384
  };
  private static final double[] CHOICES = {1, 2, 5, 10, 20};
  private static final double[] PREEMPTIONS = {1, 2, 3, 4, 5, 10, 20};
  private static final double[] FIRST_TOKEN = {
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40,
    80, 160, 640, 2_560
  };
  private static final double[] BETWEEN_TOKENS = {
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80
  };
  private static final double[] PHASES = {
    0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1_920, 7_680
  };

  private final Histogram promptTokens;
  private final Histogram outputTokens;
  private final Histogram stepTokens;
  private final Histogram mostOutputTokens;
  private final Histogram choices;
  private final Histogram maxTokens;
  private final Histogram firstToken;
  private final Histogram betweenTokens;
  private final Histogram perOutputToken;
  private final Histogram endToEnd;
  private final Histogram queued;
  private final Histogram inferring;
  private final Histogram prefilling;
  private final Histogram decoding;
  private final Histogram preemptions;
  private final Histogram computedTokens;
  private long completed;
  private long aborted;

  ServingTimes(int maxModelLen) {
    promptTokens = tokens("request_prompt_tokens", "Prompt tokens.", maxModelLen);
    outputTokens = tokens("request_generation_tokens", "Output tokens.", maxModelLen);
    stepTokens = new Histogram("vllm:iteration_tokens_total", "Tokens per engine step.", STEPS);
    mostOutputTokens =
        tokens("request_max_num_generation_tokens", "Most output tokens asked for.", maxModelLen);
    choices = new Histogram("vllm:request_params_n", "The parameter n.", CHOICES);
    maxTokens = tokens("request_params_max_tokens", "The parameter max_tokens.", maxModelLen);
    firstToken =
        new Histogram(
            "vllm:time_to_first_token_seconds", "Until the first output token.", FIRST_TOKEN);
    betweenTokens =
        new Histogram(
            "vllm:inter_token_latency_seconds", "From one token to the next.", BETWEEN_TOKENS);
    perOutputToken =
        new Histogram(
            "vllm:request_time_per_output_token_seconds",
            "Time per output token, per request.",
            BETWEEN_TOKENS);
    endToEnd = phase("e2e_request_latency_seconds", "From arrival to end.");
    queued = phase("request_queue_time_seconds", "In the queue.");
    inferring = phase("request_inference_time_seconds", "In the batch.");
    prefilling = phase("request_prefill_time_seconds", "In prefill.");
    decoding = phase("request_decode_time_seconds", "In decode.");
    preemptions =
        new Histogram("vllm:request_num_preemptions", "How often it was set back.", PREEMPTIONS);
    computedTokens =
        tokens(
            "request_prefill_kv_computed_tokens",
            "Prompt tokens that were not cached.",
            maxModelLen);
  }

  private static Histogram tokens(String name, String help, int maxModelLen) {
    return Histogram.ofTokens("vllm:" + name, help, maxModelLen);
  }

  private static Histogram phase(String name, String help) {
    return new Histogram("vllm:" + name, help, PHASES);
  }

  /** All of them, in the order of vLLM's page. */
  List<Histogram> all() {
    return List.of(
        promptTokens,
        outputTokens,
        stepTokens,
        mostOutputTokens,
        choices,
        maxTokens,
        firstToken,
        betweenTokens,
        perOutputToken,
        endToEnd,
        queued,
        inferring,
        prefilling,
        decoding,
        preemptions,
        computedTokens);
  }

  /** A step ended; like vLLM, those that only computed a part of a prompt are left out. */
  void stepped(int tokens) {
    if (tokens > 0) {
      stepTokens.observe(tokens);
    }
  }

  /** Sequences that have put out all of their tokens. */
  long completed() {
    return completed;
  }

  /** Sequences that were given up. */
  long aborted() {
    return aborted;
  }

  /** Prompt tokens of those that have put out all of their tokens. */
  double promptTokens() {
    return promptTokens.sum();
  }

  /** Tokens that these have put out. */
  double outputTokens() {
    return outputTokens.sum();
  }

  /** A prompt for {@code n} choices, each of which is a sequence. */
  Prompt prompt(int n) {
    return new Prompt(n);
  }

  /** One prompt of a request. */
  final class Prompt {

    private final int n;
    private int open;

    private Prompt(int n) {
      this.n = n;
      open = n;
    }

    /** The times of one of its sequences, from its arrival on. */
    Sequence sequence(int prompt, int output, long nanos) {
      return new Sequence(this, prompt, output, nanos);
    }

    /** What is asked for is told once for all choices, when the last has put out its tokens. */
    private void finishedOne(int output) {
      if (--open == 0) {
        mostOutputTokens.observe(output);
        choices.observe(n);
      }
    }
  }

  /** One sequence on its way through the engine; times are wall nanoseconds. */
  final class Sequence {

    private final Prompt of;
    private final int prompt;
    private final int output;
    private final long arrived;
    private long admitted;
    private long first;
    private long last;
    private int cached;
    private int setBack;

    private Sequence(Prompt of, int prompt, int output, long arrived) {
      this.of = of;
      this.prompt = prompt;
      this.output = output;
      this.arrived = arrived;
    }

    void admitted(long nanos) {
      admitted = nanos;
    }

    void preempted() {
      setBack++;
    }

    void firstToken(int cachedTokens, long nanos) {
      cached = cachedTokens;
      first = nanos;
      last = nanos;
      firstToken.observe(seconds(arrived, nanos));
    }

    void token(long nanos) {
      betweenTokens.observe(seconds(last, nanos));
      last = nanos;
    }

    /** It has put out all of its tokens. */
    void finished() {
      completed++;
      of.finishedOne(output);
      promptTokens.observe(prompt);
      outputTokens.observe(output);
      maxTokens.observe(output);
      endToEnd.observe(seconds(arrived, last));
      queued.observe(seconds(arrived, admitted));
      inferring.observe(seconds(admitted, last));
      prefilling.observe(seconds(admitted, first));
      decoding.observe(seconds(first, last));
      perOutputToken.observe(seconds(first, last) / Math.max(1, output - 1));
      preemptions.observe(setBack);
      computedTokens.observe(prompt - cached);
    }

    /** Nobody waits for its tokens any more. */
    void aborted() {
      aborted++;
    }

    private static double seconds(long from, long to) {
      return Math.max(0, to - from) / 1e9;
    }
  }
}
