package io.fairlead.lab.simulator;

import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.document.DocumentException;
import io.fairlead.crds.document.FieldError;
import io.fairlead.crds.document.SchedulerDocument;
import io.fairlead.lab.peers.Peers;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;

/**
 * How requests are placed: a config document of the production scheduler, which may also name the
 * plugins of {@link Peers}.
 *
 * @param name in reports
 * @param scheduler what the core runs
 */
public record Policy(String name, SchedulerConfig scheduler) {

  private static final List<String> NAMES =
      List.of(
          "cost",
          "cost-no-queue",
          "cost-hold",
          "pd-cost",
          "weighted",
          "weighted-223-polled",
          "weighted-111-polled",
          "llm-d-default",
          "llm-d-flow-control",
          "pd-llm-d",
          "sticky",
          "latency-oracle",
          "sglang",
          "dynamo",
          "preble",
          "aibrix",
          "aibrix-preble",
          "kubeai",
          "consistent-hash",
          "in-flight",
          "product",
          "least-outstanding",
          "power-of-two",
          "round-robin",
          "random");

  /** Names of the shipped policies: ours first, then what they are compared with. */
  public static List<String> names() {
    return NAMES;
  }

  /**
   * A shipped policy.
   *
   * @throws IllegalArgumentException if there is none of this name; the message lists them
   */
  public static Policy named(String name) {
    return read(name, file(name), text(name));
  }

  /**
   * The text of a shipped policy.
   *
   * @throws IllegalArgumentException if there is none of this name; the message lists them
   */
  public static String text(String name) {
    if (!NAMES.contains(name)) {
      throw new IllegalArgumentException(
          "policy: \"%s\" is neither a file nor one of %s"
              .formatted(name, String.join(", ", NAMES)));
    }
    String file = file(name);
    try (InputStream in = Policy.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException(file + " is missing in the build");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String file(String name) {
    return "policies/" + name + ".yaml";
  }

  /**
   * A policy of the user's own.
   *
   * @param name in reports
   * @param origin where the text is from, for messages
   * @param text an {@code EndpointPickerConfig}
   * @throws IllegalArgumentException if it can't be read; one line per problem
   */
  public static Policy read(String name, String origin, String text) {
    try {
      return new Policy(name, SchedulerDocument.read(origin, text).value());
    } catch (DocumentException e) {
      throw new IllegalArgumentException(
          e.errors().stream().map(FieldError::toString).collect(Collectors.joining("\n")), e);
    }
  }
}
