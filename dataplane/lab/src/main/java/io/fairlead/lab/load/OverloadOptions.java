package io.fairlead.lab.load;

import io.fairlead.lab.NamedArguments;
import io.fairlead.lab.Way;
import java.net.URI;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * An overload to be sent, from arguments {@code --name value}, all of them needed.
 *
 * @param ways {@code --way NAME,URL}, one or more: the ways to the model servers, the first of them
 *     the one that is judged
 * @param servers {@code --servers URL,URL...}: the model servers, whose metrics tell who waits in
 *     their engines
 * @param ratePerSecond {@code --rate}: requests a second that the servers can just serve
 * @param factors {@code --factors F,F...}: multiples of {@code ratePerSecond}, in this order; the
 *     others are judged beside 1
 * @param seconds {@code --seconds}: how long each lasts, on each way
 * @param streamShare {@code --stream-share}: share of requests that ask for a stream
 * @param seed {@code --seed}: the same seed gives the same requests
 * @param report {@code --report}: the JSON file to write
 */
record OverloadOptions(
    List<Way> ways,
    List<URI> servers,
    double ratePerSecond,
    List<Double> factors,
    long seconds,
    double streamShare,
    long seed,
    Path report) {

  OverloadOptions {
    if (ways.isEmpty() || servers.isEmpty() || seconds < 1) {
      throw new IllegalArgumentException(
          "--way and --servers need one or more, and --seconds at least 1");
    }
    if (!(ratePerSecond > 0) || !factors.stream().allMatch(factor -> factor > 0)) {
      throw new IllegalArgumentException("--rate and --factors must be above 0");
    }
    if (!factors.contains(1.0)) {
      throw new IllegalArgumentException("--factors needs a 1, which the others are held against");
    }
  }

  static OverloadOptions parse(String... args) {
    var given = new NamedArguments(args);
    var options =
        new OverloadOptions(
            given.all("--way").stream().map(Way::parse).toList(),
            Arrays.stream(given.text("--servers").split(",", -1)).map(URI::create).toList(),
            given.number("--rate"),
            factors(given.text("--factors")),
            given.whole("--seconds"),
            given.number("--stream-share"),
            given.whole("--seed"),
            Path.of(given.text("--report")));
    given.nothingElse();
    return options;
  }

  private static List<Double> factors(String text) {
    try {
      return Arrays.stream(text.split(",", -1)).map(Double::valueOf).toList();
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("--factors must be numbers with commas, not " + text, e);
    }
  }
}
