package io.fairlead.stub.server;

import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * The faults in force.
 *
 * @param values of every fault, those included that are not
 */
public record FaultState(Map<Fault, Object> values) {

  /** All well. */
  public static final FaultState NONE = new FaultState(allWell());

  public FaultState {
    values = Collections.unmodifiableMap(new EnumMap<>(values));
  }

  private static Map<Fault, Object> allWell() {
    var values = new EnumMap<Fault, Object>(Fault.class);
    for (Fault fault : Fault.values()) {
      values.put(fault, fault.none());
    }
    return values;
  }

  /**
   * The same with other values.
   *
   * @throws IllegalArgumentException if a fault can't have its value; the message names it
   */
  public FaultState with(Map<Fault, ?> others) {
    var all = new EnumMap<>(values);
    others.forEach((fault, value) -> all.put(fault, fault.value(value)));
    return new FaultState(all);
  }

  FaultState with(Fault fault, Object value) {
    return with(Map.of(fault, value));
  }

  /** Of a fault that is on or off. */
  public boolean is(Fault fault) {
    return (Boolean) value(fault);
  }

  /** Of a fault that counts. */
  public int count(Fault fault) {
    return (Integer) value(fault);
  }

  /** Of a fault that measures. */
  public double number(Fault fault) {
    return (Double) value(fault);
  }

  /** Those that are not as they are when all is well, by the names that JSON has. */
  Map<String, Object> fields() {
    var fields = new LinkedHashMap<String, Object>();
    values.forEach(
        (fault, value) -> {
          if (!value.equals(fault.none())) {
            fields.put(fault.field(), value);
          }
        });
    return fields;
  }

  private Object value(Fault fault) {
    return Objects.requireNonNull(values.get(fault));
  }
}
