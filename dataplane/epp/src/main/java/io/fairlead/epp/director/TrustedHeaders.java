package io.fairlead.epp.director;

import io.fairlead.core.FlowHeaders;
import io.fairlead.core.RequestHeaders;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A request's headers as the core and plugins may see them: those of flow control only where they
 * count and make sense, the secret never. A header that says two things, by itself or with the
 * other name that it has, makes no sense: one of them may be the client's, beside what a gateway
 * put in. They are looked for once, on the connection's loop, and not again on the pool's.
 */
final class TrustedHeaders implements RequestHeaders {

  private record Header(String name, Predicate<String> valid) {}

  private static final List<Header> HEADERS =
      List.of(
          new Header(FlowHeaders.OBJECTIVE.get(0), FlowHeaders::isName),
          new Header(FlowHeaders.OBJECTIVE.get(1), FlowHeaders::isName),
          new Header(FlowHeaders.FAIRNESS.get(0), FlowHeaders::isName),
          new Header(FlowHeaders.FAIRNESS.get(1), FlowHeaders::isName),
          new Header(FlowHeaders.FIRST_TOKEN.get(0), FlowHeaders::isMillis),
          new Header(FlowHeaders.FIRST_TOKEN.get(1), FlowHeaders::isMillis),
          new Header(FlowHeaders.NEXT_TOKEN.get(0), FlowHeaders::isMillis),
          new Header(FlowHeaders.NEXT_TOKEN.get(1), FlowHeaders::isMillis),
          new Header(FlowHeaders.TTL, FlowHeaders::isDuration),
          new Header(FlowHeaders.EXPLAIN, FlowHeaders::isYes));

  private static final Map<String, Integer> PLACES = places();
  private static final @Nullable String[] NONE = new String[HEADERS.size()];

  private final RequestHeaders all;
  private final @Nullable String[] values;

  private TrustedHeaders(RequestHeaders all, @Nullable String[] values) {
    this.all = all;
    this.values = values;
  }

  /**
   * What may be seen of them.
   *
   * @param ignored told why, for each that is there and does not count
   */
  static RequestHeaders of(
      ReceivedHeaders all, HeaderTrust trust, Origin origin, Consumer<String> ignored) {
    @Nullable String @Nullable [] values = null;
    boolean trusted = false;
    for (int i = 0; i < HEADERS.size(); i++) {
      Header header = HEADERS.get(i);
      String value = all.first(header.name());
      if (value == null) {
        continue;
      }
      if (values == null) {
        values = new String[HEADERS.size()];
        trusted = trust.trusts(origin, all);
      }
      if (!trusted) {
        ignored.accept("untrusted");
      } else if (header.valid().test(value) && !all.contradicts(header.name())) {
        values[i] = value;
      } else {
        ignored.accept("invalid");
      }
    }
    if (trusted && values != null) {
      forgetContradictions(all, values, ignored);
    }
    return new TrustedHeaders(all, values == null ? NONE : values);
  }

  /** What is not taken under one of two names does not count under the other either. */
  private static void forgetContradictions(
      RequestHeaders all, @Nullable String[] values, Consumer<String> ignored) {
    for (List<String> names : FlowHeaders.OF_TWO_NAMES) {
      int one = Objects.requireNonNull(PLACES.get(names.get(0)));
      int other = Objects.requireNonNull(PLACES.get(names.get(1)));
      boolean both = all.first(names.get(0)) != null && all.first(names.get(1)) != null;
      if (both && !Objects.equals(values[one], values[other])) {
        values[one] = null;
        values[other] = null;
        ignored.accept("invalid");
      }
    }
  }

  @Override
  public @Nullable String first(String name) {
    Integer place = PLACES.get(name);
    if (place != null) {
      return values[place];
    }
    return name.equals(HeaderTrust.SECRET) ? null : all.first(name);
  }

  private static Map<String, Integer> places() {
    Map<String, Integer> places = new HashMap<>();
    for (int i = 0; i < HEADERS.size(); i++) {
      places.put(HEADERS.get(i).name(), i);
    }
    return Map.copyOf(places);
  }
}
