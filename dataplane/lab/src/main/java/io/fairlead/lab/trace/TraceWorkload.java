package io.fairlead.lab.trace;

import io.fairlead.crds.config.Criticality;
import io.fairlead.lab.workload.Arrival;
import io.fairlead.lab.workload.ServedModel;
import io.fairlead.lab.workload.Traffic;
import io.fairlead.lab.workload.Workload;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a trace at their own times, or faster. A trace has happened once and is the same
 * for every seed, unless each seed takes a window of its own: {@link #inWindows}. Captured requests
 * that got nothing of an answer ask for one as long as their model's others are on average.
 */
public final class TraceWorkload implements Workload {

  /** Asked for where a trace names no model. */
  public static final String DEFAULT_MODEL = "llama-3.1-8b";

  private final String name;
  private final List<TraceRequest> requests;
  private final String model;
  private final double speed;
  private final long unanswered;

  private TraceWorkload(
      String name, List<TraceRequest> requests, String model, double speed, long unanswered) {
    this.name = name;
    this.requests = requests;
    this.model = model;
    this.speed = speed;
    this.unanswered = unanswered;
  }

  /**
   * Reads a trace whole into memory: Mooncake's JSON lines, Azure's CSV, or a capture (its folder,
   * or one of its files of requests). Which of them it is, is seen from its content.
   *
   * @throws InvalidTraceException if it can't be read
   */
  public static TraceWorkload read(Path path) {
    String file = String.valueOf(path.getFileName());
    int dot = file.lastIndexOf('.');
    String name = dot > 0 ? file.substring(0, dot) : file;
    List<TraceRequest> read = TraceFile.read(path);
    return new TraceWorkload(
        name,
        answered(read),
        DEFAULT_MODEL,
        1,
        read.stream().filter(Predicate.not(TraceRequest::answered)).count());
  }

  /** All with an answer: in place of one that nobody gave, one of its model's mean length. */
  private static List<TraceRequest> answered(List<TraceRequest> requests) {
    Map<String, Double> means =
        requests.stream()
            .filter(TraceRequest::answered)
            .collect(
                Collectors.groupingBy(
                    TraceRequest::model, Collectors.averagingInt(TraceRequest::outputTokens)));
    double overall = means.values().stream().mapToDouble(mean -> mean).average().orElse(1);
    return requests.stream()
        .map(
            request ->
                request.answered()
                    ? request
                    : request.answered(
                        (int) Math.round(means.getOrDefault(request.model(), overall))))
        .toList();
  }

  /** What is to be known of its requests beside them; empty for nothing. */
  public Optional<String> remark() {
    return unanswered == 0
        ? Optional.empty()
        : Optional.of(
            ("%s: %d requests were captured without an answer; they ask for one as long as their"
                    + " model's others are on average")
                .formatted(name, unanswered));
  }

  /** The same, asking for this model wherever the trace names none. */
  public TraceWorkload withModel(String asked) {
    return new TraceWorkload(name, requests, asked, speed, unanswered);
  }

  /**
   * The same in less time, or in more.
   *
   * @param factor 2 for twice as many requests a second; above 0
   */
  public TraceWorkload withSpeed(double factor) {
    if (!(factor > 0) || factor == Double.POSITIVE_INFINITY) {
      throw new IllegalArgumentException("speed is " + factor + "; set a number above 0");
    }
    return new TraceWorkload(name, requests, model, factor, unanswered);
  }

  /**
   * Only the first requests.
   *
   * @param count at least 1
   */
  public TraceWorkload withLimit(int count) {
    if (count < 1) {
      throw new IllegalArgumentException("limit is " + count + "; set at least 1");
    }
    return new TraceWorkload(
        name, requests.subList(0, Math.min(count, requests.size())), model, speed, unanswered);
  }

  /**
   * The same traffic cut into windows: seed i gets the i-th, counted from 1 and from the trace's
   * start. What a window lacks at the trace's end comes from its start, so that every window is as
   * long as the others and has no request twice. Seeds with no window of their own left begin
   * within those of others. A trace that is no longer than a window is whole for every seed.
   *
   * @param seconds how long each is at this speed; above 0
   */
  public Workload inWindows(double seconds) {
    if (!(seconds > 0)) {
      throw new IllegalArgumentException("window is " + seconds + " s; set more than 0");
    }
    return seconds < seconds() ? new TraceWindows(this, Math.round(seconds * speed * 1e9)) : this;
  }

  /** From the start to the last request. */
  public double seconds() {
    return requests.isEmpty() ? 0 : requests.getLast().atNanos() / speed / 1e9;
  }

  /** How many requests there are. */
  public int size() {
    return requests.size();
  }

  @Override
  public String name() {
    return name;
  }

  /** All of them standard: traces don't say how critical a request is. */
  @Override
  public List<ServedModel> models() {
    Stream<String> names = requests.stream().map(this::model).distinct().sorted();
    return names.map(named -> new ServedModel(named, Criticality.STANDARD, false)).toList();
  }

  @Override
  public Traffic start(long seed) {
    return traffic(requests);
  }

  /** Between two times of the trace itself: from the one, up to but without the other. */
  List<TraceRequest> between(long fromNanos, long toNanos) {
    return requests.subList(firstAt(fromNanos), firstAt(toNanos));
  }

  /** When the last request comes, in the trace itself. */
  long lengthNanos() {
    return requests.getLast().atNanos();
  }

  Traffic traffic(List<TraceRequest> asked) {
    Iterator<TraceRequest> left = asked.iterator();
    return new Traffic() {
      @Override
      public @Nullable Arrival next() {
        if (!left.hasNext()) {
          return null;
        }
        TraceRequest request = left.next();
        return new Arrival(Math.round(request.atNanos() / speed), request.shape(model(request)));
      }
    };
  }

  private int firstAt(long nanos) {
    int low = 0;
    int high = requests.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (requests.get(middle).atNanos() < nanos) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private String model(TraceRequest request) {
    return request.model().isEmpty() ? model : request.model();
  }
}
