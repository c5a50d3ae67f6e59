package io.fairlead.lab.load;

import io.fairlead.lab.NamedArguments;
import java.net.URI;
import java.nio.file.Path;

/**
 * A start to be measured, from arguments {@code --name value}, all of them needed.
 *
 * @param command {@code --command}: starts the picker, in a shell
 * @param ready {@code --ready URL}: answers 200 once it is ready
 * @param target {@code --target URL}: where requests go
 * @param other {@code --other URL}: another way to the model servers, where the client warms up
 * @param model {@code --model}: asked for in every request
 * @param ratePerSecond {@code --rate}: mean arrivals a second
 * @param rounds {@code --rounds}: how often it is started
 * @param seed {@code --seed}: the same seed gives the same requests
 * @param log {@code --log}: where the picker's output goes
 * @param report {@code --report}: the JSON file to write
 */
record StartOptions(
    String command,
    URI ready,
    URI target,
    URI other,
    String model,
    double ratePerSecond,
    int rounds,
    long seed,
    Path log,
    Path report) {

  StartOptions {
    if (rounds < 1 || !(ratePerSecond > 0)) {
      throw new IllegalArgumentException(
          "--rounds must be at least 1 and --rate above 0: %d, %s"
              .formatted(rounds, ratePerSecond));
    }
  }

  static StartOptions parse(String... args) {
    var given = new NamedArguments(args);
    var options =
        new StartOptions(
            given.text("--command"),
            URI.create(given.text("--ready")),
            URI.create(given.text("--target")),
            URI.create(given.text("--other")),
            given.text("--model"),
            given.number("--rate"),
            Math.toIntExact(given.whole("--rounds")),
            given.whole("--seed"),
            Path.of(given.text("--log")),
            Path.of(given.text("--report")));
    given.nothingElse();
    return options;
  }
}
