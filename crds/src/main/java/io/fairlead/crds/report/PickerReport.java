package io.fairlead.crds.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fairlead.crds.ConfigHash;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One picker's own account: what it runs, what it refused and which endpoints it has. Written by
 * the picker as the annotation {@link #ANNOTATION} of a Lease named after its pod, read by the
 * operator.
 *
 * @param pool {@code namespace/name} of the pool it serves, null before a config was applied
 * @param configHash which config is in force, null before one was applied
 * @param generation configs applied since the process started; 0 before the first, never negative
 * @param refused the newest config, when it could not be run; null when the newest one runs
 * @param endpoints what was found to send requests to
 * @param saturatedSince since when no endpoint has room for more requests, or some wait, as ISO
 *     8601 writes a moment of UTC; null while there is room
 * @param shadowsOff shadows that were switched off, in the order of the config
 * @param schedulersOff external schedulers that requests don't wait for: that of the scheduling in
 *     force first, then those of shadows
 * @param targets what answers have told of the config's targets; null where they have told nothing
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PickerReport(
    @Nullable String pool,
    @Nullable ConfigHash configHash,
    long generation,
    @Nullable Refused refused,
    Endpoints endpoints,
    @Nullable String saturatedSince,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<ShadowOff> shadowsOff,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<SchedulerOff> schedulersOff,
    @Nullable Targets targets) {

  /** Annotation on the Lease that holds the report as JSON. */
  public static final String ANNOTATION = "fairlead.io/status";

  /**
   * Within which time a picker has written its report again, also where nothing changes: whoever
   * reads it need not wait longer for one whose Lease somebody deleted.
   */
  public static final Duration REPEATED_WITHIN = Duration.ofMinutes(1);

  /**
   * Within which time the Lease has another {@code spec.renewTime}, also where nothing changes: for
   * whoever watches it that is the only sign that its picker still gets through.
   */
  public static final Duration RENEWED_WITHIN = Duration.ofMinutes(5);

  /** Label on the Lease: name of the picker that the pod is a replica of. */
  public static final String PICKER_LABEL = "fairlead.io/picker";

  /** A picker that has just started. */
  public static final PickerReport EMPTY =
      new PickerReport(null, null, 0, null, new Endpoints(0, 0, null));

  private static final JsonMapper JSON =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  /** There is room. */
  public PickerReport(
      @Nullable String pool,
      @Nullable ConfigHash configHash,
      long generation,
      @Nullable Refused refused,
      Endpoints endpoints) {
    this(pool, configHash, generation, refused, endpoints, null);
  }

  /** All shadows run. */
  public PickerReport(
      @Nullable String pool,
      @Nullable ConfigHash configHash,
      long generation,
      @Nullable Refused refused,
      Endpoints endpoints,
      @Nullable String saturatedSince) {
    this(pool, configHash, generation, refused, endpoints, saturatedSince, List.of());
  }

  /** Requests wait for every external scheduler that there is. */
  public PickerReport(
      @Nullable String pool,
      @Nullable ConfigHash configHash,
      long generation,
      @Nullable Refused refused,
      Endpoints endpoints,
      @Nullable String saturatedSince,
      List<ShadowOff> shadowsOff) {
    this(
        pool,
        configHash,
        generation,
        refused,
        endpoints,
        saturatedSince,
        shadowsOff,
        List.of(),
        null);
  }

  /** A report without {@code endpoints}, as an older picker may write, has none. */
  public PickerReport {
    notNegative("generation", generation);
    endpoints = endpoints == null ? new Endpoints(0, 0, null) : endpoints;
    shadowsOff = shadowsOff == null ? List.of() : List.copyOf(shadowsOff);
    schedulersOff = schedulersOff == null ? List.of() : List.copyOf(schedulersOff);
    targets = Targets.NONE.equals(targets) ? null : targets;
  }

  /**
   * A shadow that runs no more.
   *
   * @param name of the shadow
   * @param reason why, to be read after a colon
   */
  public record ShadowOff(String name, String reason) {
    public ShadowOff {
      present("name", name);
      present("reason", reason);
    }
  }

  /**
   * An external scheduler that requests don't wait for: the plugins beside it decide.
   *
   * @param shadow which shadow asks it; null for the scheduling in force
   * @param late whether it answers, but too late again and again; else it is not there
   * @param reason why, to be read after a colon
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record SchedulerOff(@Nullable String shadow, boolean late, String reason) {
    public SchedulerOff {
      present("reason", reason);
    }
  }

  /**
   * Target models of the config, by what the answers to requests for them have told, each by name.
   * One of which nothing is known is nowhere.
   *
   * @param served an endpoint has answered for it in the last hour
   * @param servedEarlier an endpoint has answered for it before, and nothing was heard against it
   * @param notServed the endpoints have answered in the last hour that they don't know it, and none
   *     serves it
   */
  @JsonInclude(JsonInclude.Include.NON_EMPTY)
  public record Targets(
      List<String> served, List<String> servedEarlier, List<NotServed> notServed) {

    /** Nothing is known of any. */
    public static final Targets NONE = new Targets(List.of(), List.of(), List.of());

    public Targets {
      served = served == null ? List.of() : List.copyOf(served);
      servedEarlier = servedEarlier == null ? List.of() : List.copyOf(servedEarlier);
      notServed = notServed == null ? List.of() : List.copyOf(notServed);
    }
  }

  /**
   * A target model that no endpoint serves.
   *
   * @param name of the target
   * @param endpoints how many had answered that they don't know it when that was found; never
   *     negative
   */
  public record NotServed(String name, int endpoints) {
    public NotServed {
      present("name", name);
      notNegative("endpoints", endpoints);
    }
  }

  /**
   * A config that is not run.
   *
   * @param hash which config was refused; null when what was found names none, since it is no
   *     document, or isn't there
   * @param message where it came from, field path and reason
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Refused(@Nullable ConfigHash hash, String message) {
    public Refused {
      present("message", message);
    }
  }

  /**
   * Endpoints by state.
   *
   * @param matching that match the pool's selector, ready or not; never negative
   * @param ready that get requests; never negative
   * @param reason why none can serve: {@code NoMatchingPods}, {@code NoReadyPods}, {@code
   *     PortNotServed} or {@code NoEndpointAnswers}, or what only a newer picker knows; null when
   *     some can
   * @param outCount that are ready for Kubernetes and get no requests, since they don't answer;
   *     never negative
   * @param out who they are: the first {@value #MOST_NAMED} by name
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Endpoints(
      int matching,
      int ready,
      @Nullable String reason,
      @JsonInclude(JsonInclude.Include.NON_DEFAULT) int outCount,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Out> out) {

    /** So many of those that are out are named: a report must stay small. */
    public static final int MOST_NAMED = 10;

    public Endpoints {
      notNegative("matching", matching);
      notNegative("ready", ready);
      notNegative("outCount", outCount);
      out = out == null ? List.of() : List.copyOf(out);
    }

    /** All that are ready get requests. */
    public Endpoints(int matching, int ready, @Nullable String reason) {
      this(matching, ready, reason, 0, List.of());
    }
  }

  /**
   * An endpoint that gets no requests.
   *
   * @param name where people find it, such as {@code default/vllm-0:8000}
   * @param reason why, to be read after its name
   * @param since since when, as ISO 8601 writes a moment of UTC
   */
  public record Out(String name, String reason, String since) {
    public Out {
      present("name", name);
      present("reason", reason);
      present("since", since);
    }
  }

  /**
   * What a text came to: one of the two is null.
   *
   * @param report the report
   * @param problem why the text is none, by field
   */
  public record Reading(@Nullable PickerReport report, @Nullable String problem) {}

  private static void notNegative(String field, long count) {
    if (count < 0) {
      throw new IllegalArgumentException(field + " is negative: " + count);
    }
  }

  private static void present(String field, @Nullable String text) {
    if (text == null) {
      throw new IllegalArgumentException(field + " is missing");
    }
  }

  /** Compact JSON; equal reports give equal text. */
  public String toJson() {
    try {
      return JSON.writeValueAsString(this);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a report of plain values could not be written", e);
    }
  }

  /** Reads {@link #toJson}; unknown fields are skipped, empty for anything that is no report. */
  public static Optional<PickerReport> fromJson(String json) {
    return Optional.ofNullable(read(json).report());
  }

  /**
   * Reads {@link #toJson} and says what is wrong with anything else; unknown fields are skipped.
   */
  public static Reading read(String json) {
    try {
      PickerReport report = JSON.readValue(json, PickerReport.class);
      return report == null ? new Reading(null, "it is null") : new Reading(report, null);
    } catch (JsonMappingException e) {
      StringBuilder path = new StringBuilder();
      for (JsonMappingException.Reference step : e.getPath()) {
        if (step.getFieldName() == null) {
          path.append('[').append(step.getIndex()).append(']');
        } else {
          path.append(path.isEmpty() ? "" : ".").append(step.getFieldName());
        }
      }
      String said =
          e.getCause() instanceof IllegalArgumentException cause
              ? String.valueOf(cause.getMessage())
              : e.getOriginalMessage();
      return new Reading(null, path.isEmpty() ? said : path + ": " + said);
    } catch (JsonProcessingException e) {
      return new Reading(null, "it is no JSON: " + e.getOriginalMessage());
    }
  }
}
