package io.fairlead.lab.evaluation;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.exc.ValueInstantiationException;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What is run, and what is judged by what: written down before anything is.
 *
 * @param frozen the cost model's constants that no part may change, by the names of its parameters
 * @param contenders by the names that parts use
 * @param parts in the order of the document
 */
public record Plan(
    Map<String, Double> frozen, Map<String, Contender> contenders, Map<String, Part> parts) {

  private static final ObjectMapper YAML =
      YAMLMapper.builder(new YAMLFactory())
          .enable(MapperFeature.ACCEPT_CASE_INSENSITIVE_ENUMS)
          .build();

  private static final int DIGITS = 12;

  /**
   * @throws IllegalArgumentException if a part names a contender that isn't there
   */
  public Plan {
    frozen = Collections.unmodifiableMap(new LinkedHashMap<>(frozen));
    contenders = Collections.unmodifiableMap(new LinkedHashMap<>(contenders));
    parts = Collections.unmodifiableMap(new LinkedHashMap<>(parts));
    for (Map.Entry<String, Part> part : parts.entrySet()) {
      for (String name : part.getValue().all()) {
        if (!contenders.containsKey(name)) {
          throw new IllegalArgumentException(
              "parts.%s names \"%s\", which is none of the contenders %s"
                  .formatted(part.getKey(), name, contenders.keySet()));
        }
      }
    }
  }

  /** What a part's workloads and constants are for. */
  public enum Kind {
    /** Constants may be chosen by it. */
    TUNING,
    /** Nothing may. */
    TEST,
    /** Shown beside, not judged. */
    SHOWN
  }

  /**
   * A policy and how it is run.
   *
   * @param policy a shipped one or a file; its own name unless said
   * @param scrapeMillis between two scrapes of a server, 0 for none; 50 unless said
   * @param pickers replicas, 1 unless said
   * @param front how requests are spread over pickers: RANDOM unless said
   * @param following whether pickers tell one another what they send
   * @param labels whether servers carry a label that tells their hardware
   * @param noise whether engines are less ideal than their profiles
   * @param perception what pickers see, as {@code simulate --perception} has it: ideal unless said
   */
  public record Contender(
      @Nullable String policy,
      @Nullable Double scrapeMillis,
      @Nullable Integer pickers,
      @Nullable String front,
      boolean following,
      boolean labels,
      boolean noise,
      @Nullable String perception) {}

  /**
   * Cases, who competes in them, and on which seeds.
   *
   * @param says what it is for, in a sentence
   * @param seeds a first and a last, as in 6..9
   * @param subjects who is judged
   * @param peers by the best of whom
   * @param beside who is shown but neither
   */
  public record Part(
      Kind kind,
      String says,
      String seeds,
      List<String> subjects,
      List<String> peers,
      List<String> beside,
      List<Case> cases) {

    public Part {
      if (seeds == null || !seeds.matches("[0-9]{1,6}\\.\\.[0-9]{1,6}")) {
        throw new IllegalArgumentException(
            "seeds is " + seeds + "; set a first and a last, as in 6..9");
      }
      if (kind == null || says == null || subjects == null || cases == null) {
        throw new IllegalArgumentException("kind, says, subjects and cases must be set");
      }
      subjects = List.copyOf(subjects);
      peers = peers == null ? List.of() : List.copyOf(peers);
      beside = beside == null ? List.of() : List.copyOf(beside);
      cases = List.copyOf(cases);
      if (kind != Kind.SHOWN && peers.isEmpty()) {
        throw new IllegalArgumentException("peers is empty: there is nobody to be judged by");
      }
    }

    /** All that run. */
    public List<String> all() {
      return Stream.of(subjects, peers, beside).flatMap(List::stream).distinct().toList();
    }
  }

  /**
   * A workload on a pool.
   *
   * @param workload a shipped one, or the file of a trace
   * @param loads times its own load, rising; 1 unless said
   * @param upTo beyond the last of them, steps of a quarter follow up to this until nobody keeps up
   *     any more
   * @param pool the workload's own unless said
   * @param seconds in which requests arrive
   * @param warmUp seconds of it that aren't measured; a quarter unless said
   * @param faults what goes wrong, as {@code simulate --scenario} has it on a line
   * @param bound of the mean's ratio, where more is claimed than being no worse
   */
  public record Case(
      String workload,
      List<Double> loads,
      @Nullable Double upTo,
      @Nullable String pool,
      double seconds,
      @Nullable Double warmUp,
      List<String> faults,
      @Nullable Double bound) {

    private static final double STEP = 1.25;

    public Case {
      if (workload == null || !(seconds > 0)) {
        throw new IllegalArgumentException("workload and seconds must be set");
      }
      loads = loads == null ? List.of(1.0) : List.copyOf(loads);
      faults = faults == null ? List.of() : List.copyOf(faults);
      if (loads.isEmpty() || loads.stream().anyMatch(load -> !(load > 0))) {
        throw new IllegalArgumentException("loads is " + loads + "; set one or more above 0");
      }
    }

    /** The loads to try one after the other. */
    public List<Double> steps() {
      List<Double> steps = new ArrayList<>(loads);
      double next = Math.round(loads.getLast() * STEP * 100) / 100.0;
      while (upTo != null && next <= upTo) {
        steps.add(next);
        next = Math.round(next * STEP * 100) / 100.0;
      }
      return steps;
    }

    /** Seconds that aren't measured. */
    public double unmeasured() {
      return warmUp == null ? seconds / 4 : warmUp;
    }
  }

  /**
   * Reads a plan.
   *
   * @throws IllegalArgumentException that names the field
   */
  public static Plan read(String yaml) {
    try {
      return YAML.readValue(yaml, Plan.class);
    } catch (ValueInstantiationException e) {
      throw wrong(e, String.valueOf(e.getCause() == null ? e : e.getCause().getMessage()));
    } catch (JsonProcessingException e) {
      throw wrong(e, e.getOriginalMessage());
    }
  }

  private static IllegalArgumentException wrong(JsonProcessingException e, String why) {
    String path =
        e instanceof JsonMappingException mapping
            ? mapping.getPath().stream()
                .map(
                    at -> at.getFieldName() == null ? "[" + at.getIndex() + "]" : at.getFieldName())
                .collect(Collectors.joining("."))
            : "";
    int line = e.getLocation() == null ? 0 : e.getLocation().getLineNr();
    return new IllegalArgumentException(
        "plan, line %d: %s: %s".formatted(line, path, why.lines().findFirst().orElse("")), e);
  }

  /** The policy that a contender runs: a shipped one or a file. */
  public String policy(String contender) {
    String policy = Objects.requireNonNull(contenders.get(contender), contender).policy();
    return policy == null ? contender : policy;
  }

  /**
   * Tells one version of a part, and of those that compete in it, from another.
   *
   * @param policies the text of each policy, by its name or file
   */
  public String fingerprint(String part, UnaryOperator<String> policies) {
    Part of = Objects.requireNonNull(parts.get(part), part);
    String text =
        of
            + contenders.entrySet().stream()
                .filter(each -> of.all().contains(each.getKey()))
                .map(each -> each + policies.apply(policy(each.getKey())))
                .collect(Collectors.joining(";"));
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest).substring(0, DIGITS);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
