package io.fairlead.stub.server;

import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectReader;
import io.netty.buffer.ByteBufInputStream;
import io.netty.handler.codec.http.FullHttpRequest;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.Set;

/**
 * {@code /stub/faults}: GET tells the faults in force, POST or PUT changes the ones that its JSON
 * object names, DELETE ends all. Each answers with the state after it. {@code resetCache}, {@code
 * restart} and {@code kill} are no states: set to true, they happen once the answer is out.
 */
final class FaultsEndpoint {

  private FaultsEndpoint() {}

  private static final Set<String> ACTIONS = Set.of("resetCache", "restart", "kill");

  static void answer(ServerCore core, FullHttpRequest request, Exchange exchange) {
    switch (request.method().name()) {
      case "GET" -> {}
      case "DELETE" -> core.faults.clear();
      case "PUT", "POST" -> {
        try {
          Map<String, Object> fields = read(request);
          core.faults.set(changed(core.faults.state(), fields));
          core.applyFaults();
          act(core.faults, fields);
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
    exchange.json(200, RequestParser.JSON.valueToTree(core.faults.state()));
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

  private static FaultState changed(FaultState state, Map<String, Object> fields) {
    for (Map.Entry<String, Object> field : fields.entrySet()) {
      String name = field.getKey();
      Object value = field.getValue();
      state =
          switch (name) {
            case "resetNext" -> state.withResetNext(integer(name, value));
            case "errorNext" -> state.withErrorNext(integer(name, value), state.errorStatus());
            case "errorStatus" -> state.withErrorNext(state.errorNext(), integer(name, value));
            case "stall" -> state.withStall(bool(name, value));
            case "freezeMetrics" -> state.withFreezeMetrics(bool(name, value));
            case "metricsDelayMillis" -> state.withMetricsDelayMillis(integer(name, value));
            default -> {
              if (ACTIONS.contains(name) && value.equals(true)) {
                yield state;
              }
              throw new IllegalArgumentException(
                  ACTIONS.contains(name)
                      ? name + ": happens once; only true is of use"
                      : name
                          + ": no such fault; known: resetNext, errorNext, errorStatus, stall,"
                          + " freezeMetrics, metricsDelayMillis, resetCache, restart, kill");
            }
          };
    }
    return state;
  }

  private static void act(Faults faults, Map<String, Object> fields) {
    if (fields.containsKey("resetCache")) {
      faults.resetCache();
    }
    if (fields.containsKey("restart")) {
      faults.restart();
    }
    if (fields.containsKey("kill")) {
      faults.kill();
    }
  }

  private static int integer(String field, Object value) {
    if (value instanceof Integer integer) {
      return integer;
    }
    throw new IllegalArgumentException(field + ": an integer is needed");
  }

  private static boolean bool(String field, Object value) {
    if (value instanceof Boolean bool) {
      return bool;
    }
    throw new IllegalArgumentException(field + ": true or false is needed");
  }
}
