package io.fairlead.lab.load;

import io.fairlead.lab.NamedArguments;
import io.fairlead.lab.Way;
import java.net.URI;
import java.nio.file.Path;

/**
 * What to compare, from arguments {@code --name value}, all of them needed.
 *
 * @param baseline {@code --baseline NAME,URL,PROCESS=PID...}: the way to compare with
 * @param subject {@code --subject}, same form: the way that is measured
 * @param picks {@code --picks URL}: metrics page of the subject's picker
 * @param model {@code --model}: asked for in every request
 * @param requests {@code --requests}: how many go each way, all rounds together
 * @param ratePerSecond {@code --rate}: mean arrivals a second
 * @param rounds {@code --rounds}: how often the ways take turns
 * @param warmup {@code --warmup}: requests sent each way before those that count; may be 0
 * @param seed {@code --seed}: the same seed gives the same requests
 * @param report {@code --report}: the JSON file to write
 */
record LoadOptions(
    Way baseline,
    Way subject,
    URI picks,
    String model,
    int requests,
    double ratePerSecond,
    int rounds,
    int warmup,
    long seed,
    Path report) {

  LoadOptions {
    if (rounds < 1 || requests < rounds || warmup < 0 || !(ratePerSecond > 0)) {
      throw new IllegalArgumentException(
          "--rounds must be at least 1, --requests at least as many, --warmup at least 0 and --rate"
              + " above 0: %d, %d, %d, %s".formatted(rounds, requests, warmup, ratePerSecond));
    }
  }

  static LoadOptions parse(String... args) {
    var given = new NamedArguments(args);
    var options =
        new LoadOptions(
            Way.parse(given.text("--baseline")),
            Way.parse(given.text("--subject")),
            URI.create(given.text("--picks")),
            given.text("--model"),
            Math.toIntExact(given.whole("--requests")),
            given.number("--rate"),
            Math.toIntExact(given.whole("--rounds")),
            Math.toIntExact(given.whole("--warmup")),
            given.whole("--seed"),
            Path.of(given.text("--report")));
    given.nothingElse();
    return options;
  }

  /** How many requests go each way in one round; the last takes what the division leaves. */
  int inRound(int round) {
    int each = requests / rounds;
    return round == rounds - 1 ? requests - each * round : each;
  }
}
