package io.fairlead.core;

import static io.fairlead.core.FlightState.ANSWERED;
import static io.fairlead.core.FlightState.ANSWERED_PREFILLING;
import static io.fairlead.core.FlightState.DECIDING;
import static io.fairlead.core.FlightState.DECODING;
import static io.fairlead.core.FlightState.ENDED;
import static io.fairlead.core.FlightState.LEFT_ANSWERED;
import static io.fairlead.core.FlightState.LEFT_ANSWERED_PREFILLING;
import static io.fairlead.core.FlightState.LEFT_DECODING;
import static io.fairlead.core.FlightState.LEFT_PREFILLING;
import static io.fairlead.core.FlightState.PREFILLING;
import static io.fairlead.core.FlightState.WAITING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A request goes from state to state on these ways and no other. */
class FlightStateTest {

  private static final Map<FlightState, Set<FlightState>> WAYS =
      Map.ofEntries(
          Map.entry(ENDED, Set.of(DECIDING)),
          Map.entry(DECIDING, Set.of(WAITING, PREFILLING, ENDED)),
          Map.entry(WAITING, Set.of(PREFILLING, ENDED)),
          Map.entry(
              PREFILLING, Set.of(DECIDING, DECODING, ANSWERED_PREFILLING, LEFT_PREFILLING, ENDED)),
          Map.entry(DECODING, Set.of(DECIDING, ANSWERED, LEFT_DECODING, ENDED)),
          Map.entry(ANSWERED_PREFILLING, Set.of(ANSWERED, LEFT_ANSWERED_PREFILLING, ENDED)),
          Map.entry(ANSWERED, Set.of(LEFT_ANSWERED, ENDED)),
          Map.entry(LEFT_PREFILLING, Set.of(LEFT_DECODING, LEFT_ANSWERED_PREFILLING, ENDED)),
          Map.entry(LEFT_DECODING, Set.of(LEFT_ANSWERED, ENDED)),
          Map.entry(LEFT_ANSWERED_PREFILLING, Set.of(LEFT_ANSWERED, ENDED)),
          Map.entry(LEFT_ANSWERED, Set.of(ENDED)));

  @ParameterizedTest
  @EnumSource
  void onlyTheWaysOfTheTableAreOpen(FlightState from) {
    for (FlightState to : FlightState.values()) {
      Flight flight = in(from);
      if (ways(from).contains(to)) {
        flight.to(to);
        assertThat(flight.state()).isEqualTo(to);
      } else {
        assertThatThrownBy(() -> flight.to(to))
            .as("%s to %s", from, to)
            .isInstanceOf(IllegalStateException.class)
            .hasMessage("a request that is " + from + " can't become " + to);
        assertThat(flight.state()).isEqualTo(from);
      }
    }
  }

  /** Each step along the prompt, the answer and the frontend changes that alone. */
  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"ENDED", "DECIDING", "WAITING"})
  void eachStepChangesOneThing(FlightState state) {
    FlightState prefilled = state.prefilled();
    assertThat(prefilled.isPrefilling()).isFalse();
    assertThat(prefilled.isAnswered()).isEqualTo(state.isAnswered());
    assertThat(prefilled.isLeft()).isEqualTo(state.isLeft());

    FlightState answered = state.answered();
    assertThat(answered.isPrefilling()).isEqualTo(state.isPrefilling());
    assertThat(answered.isAnswered()).isTrue();
    assertThat(answered.isLeft()).isEqualTo(state.isLeft());

    FlightState left = state.left();
    assertThat(left.isPrefilling()).isEqualTo(state.isPrefilling());
    assertThat(left.isAnswered()).isEqualTo(state.isAnswered());
    assertThat(left.isLeft()).isTrue();

    for (FlightState next : List.of(prefilled, answered, left)) {
      assertThat(next == state || ways(state).contains(next)).isTrue();
    }
  }

  @Test
  void whatIsSentNowhereTakesNoStep() {
    for (FlightState state : List.of(ENDED, DECIDING, WAITING)) {
      assertThat(state.prefilled()).isEqualTo(state);
      assertThat(state.answered()).isEqualTo(state);
      assertThat(state.left()).isEqualTo(state);
      assertThat(state.isPrefilling() || state.isAnswered() || state.isLeft()).isFalse();
    }
  }

  private static Set<FlightState> ways(FlightState from) {
    return WAYS.getOrDefault(from, Set.of());
  }

  /** A request that has gone to this state by the table. */
  private static Flight in(FlightState wanted) {
    Map<FlightState, List<FlightState>> known = new EnumMap<>(FlightState.class);
    known.put(ENDED, List.of());
    Deque<FlightState> next = new ArrayDeque<>(EnumSet.of(ENDED));
    while (!known.containsKey(wanted)) {
      FlightState from = next.remove();
      List<FlightState> way = known.getOrDefault(from, List.of());
      for (FlightState to : ways(from)) {
        if (!known.containsKey(to)) {
          known.put(to, Stream.concat(way.stream(), Stream.of(to)).toList());
          next.add(to);
        }
      }
    }
    Flight flight = new Flight(1, 1);
    known.getOrDefault(wanted, List.of()).forEach(flight::to);
    return flight;
  }
}
