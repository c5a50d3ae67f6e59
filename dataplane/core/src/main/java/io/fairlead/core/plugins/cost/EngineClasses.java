package io.fairlead.core.plugins.cost;

import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Parameters;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Which engine class an endpoint is of: by its accelerator label if that is, or has in it, a name
 * listed for a class, else the default one.
 */
final class EngineClasses {

  /** Hardware in the names of accelerators, longer names first: an L40 or L40S is no L4. */
  private static final List<String> HARDWARE = List.of("l40", "h200", "h100", "a100", "l4");

  private final Map<String, EngineClass> byAccelerator;
  private final EngineClass otherwise;

  /** Whether the default class is for hardware that nothing is known of only. */
  private final boolean guess;

  private EngineClasses(
      Map<String, EngineClass> byAccelerator, EngineClass otherwise, boolean guess) {
    this.byAccelerator = byAccelerator;
    this.otherwise = otherwise;
    this.guess = guess;
  }

  /**
   * Reads {@code engineClass}, the class of endpoints that no own class is for (guessed from the
   * accelerator when not set), and {@code engineClasses}, a list of classes with {@code
   * accelerator} (a label's value), {@code base} and coefficients.
   */
  static EngineClasses read(Parameters parameters) {
    Map<String, EngineClass> own = new HashMap<>();
    for (Parameters each : parameters.objects("engineClasses")) {
      String accelerator = each.text("accelerator", "");
      if (accelerator.isEmpty()) {
        throw each.invalid("accelerator", "is missing; set the value of the accelerator label");
      }
      if (own.put(accelerator.toLowerCase(Locale.ROOT), EngineClass.read(each)) != null) {
        throw each.invalid("accelerator", "is there twice; keep one class per accelerator");
      }
    }
    String name = parameters.choice("engineClass", EngineClass.DEFAULT, EngineClass.names());
    return new EngineClasses(own, EngineClass.builtIn(name), !parameters.has("engineClass"));
  }

  EngineClass of(Endpoint endpoint) {
    String accelerator = endpoint.attributes().accelerator().toLowerCase(Locale.ROOT);
    EngineClass own = byAccelerator.get(accelerator);
    if (own != null) {
      return own;
    }
    for (int i = 0; guess && i < HARDWARE.size(); i++) {
      if (accelerator.contains(HARDWARE.get(i))) {
        return EngineClass.builtIn(
            switch (HARDWARE.get(i)) {
              case "h200" -> "8b-h100";
              case "l40" -> "8b-l40s";
              default -> "8b-" + HARDWARE.get(i);
            });
      }
    }
    return otherwise;
  }
}
