package io.fairlead.stub.server;

import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectReader;
import io.netty.buffer.ByteBufInputStream;
import io.netty.handler.codec.http.FullHttpRequest;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * {@code /stub/faults}: GET tells the faults in force, POST or PUT changes the ones that its JSON
 * object names, DELETE ends all. Each answers with the state after it. {@code resetCache}, {@code
 * restart} and {@code kill} are no states: set to true, they happen once the answer is out. {@code
 * forSeconds} ends what stands beside it.
 */
final class FaultsEndpoint {

  private static final String FOR_SECONDS = "forSeconds";
  private static final double LONGEST_SECONDS = 86_400;
  private static final List<String> ACTIONS = List.of("resetCache", "restart", "kill");

  private FaultsEndpoint() {}

  /** What a request asks for, checked as a whole before anything of it is done. */
  private record Change(
      Map<Fault, Object> faults, Set<String> actions, @Nullable Duration duration) {}

  static void answer(ServerCore core, FullHttpRequest request, Exchange exchange) {
    switch (request.method().name()) {
      case "GET" -> {}
      case "DELETE" -> core.faults.clear();
      case "PUT", "POST" -> {
        try {
          apply(change(read(request)), core.faults);
        } catch (IllegalArgumentException refused) {
          exchange.error(ApiError.badRequest(String.valueOf(refused.getMessage()), null));
          return;
        }
      }
      default -> {
        exchange.error(ApiError.wrongMethod(request.method().name(), "/stub/faults"));
        return;
      }
    }
    core.applyFaults();
    exchange.json(200, RequestParser.JSON.valueToTree(core.faults.state().fields()));
  }

  private static Map<String, Object> read(FullHttpRequest request) {
    ObjectReader reader = RequestParser.JSON.readerForMapOf(Object.class);
    try (InputStream in = new ByteBufInputStream(request.content())) {
      return reader.readValue(in);
    } catch (JsonMappingException notAnObject) {
      throw new IllegalArgumentException("The body is not a JSON object.", notAnObject);
    } catch (IOException broken) {
      throw new IllegalArgumentException("The body is not valid JSON.", broken);
    }
  }

  private static Change change(Map<String, Object> fields) {
    var faults = new EnumMap<Fault, Object>(Fault.class);
    var actions = new HashSet<String>();
    @Nullable Duration duration = null;
    for (Map.Entry<String, Object> field : fields.entrySet()) {
      String name = field.getKey();
      Fault fault = Fault.of(name);
      if (fault != null) {
        faults.put(fault, fault.value(field.getValue()));
      } else if (name.equals(FOR_SECONDS)) {
        duration = seconds(field.getValue());
      } else if (!ACTIONS.contains(name)) {
        throw new IllegalArgumentException(name + ": no such fault; known: " + known());
      } else if (field.getValue().equals(true)) {
        actions.add(name);
      } else {
        throw new IllegalArgumentException(name + ": happens once; only true is of use");
      }
    }
    if (duration != null && faults.isEmpty()) {
      throw new IllegalArgumentException(FOR_SECONDS + ": names no fault that could end");
    }
    return new Change(faults, actions, duration);
  }

  private static Duration seconds(Object value) {
    if (value instanceof Number number
        && number.doubleValue() > 0
        && number.doubleValue() <= LONGEST_SECONDS) {
      return Duration.ofNanos((long) (number.doubleValue() * 1e9));
    }
    throw new IllegalArgumentException(
        "%s: %s is not above 0 and up to %.0f".formatted(FOR_SECONDS, value, LONGEST_SECONDS));
  }

  private static String known() {
    return Stream.of(
            Arrays.stream(Fault.values()).map(Fault::field),
            ACTIONS.stream(),
            Stream.of(FOR_SECONDS))
        .flatMap(names -> names)
        .collect(Collectors.joining(", "));
  }

  /** What happens once comes first: a restart ends the faults before it, not those with it. */
  private static void apply(Change change, Faults faults) {
    if (change.actions().contains("resetCache")) {
      faults.resetCache();
    }
    if (change.actions().contains("restart")) {
      faults.restart();
    }
    if (change.actions().contains("kill")) {
      faults.kill();
    }
    if (change.duration() == null) {
      faults.begin(change.faults());
    } else {
      faults.begin(change.faults(), change.duration());
    }
  }
}
