package io.fairlead.lab;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Arguments {@code --name value} of a program that scripts call. Each is taken once; what nobody
 * takes is a mistake of the caller's. Whatever is wrong is told as an {@link
 * IllegalArgumentException} that names the argument.
 */
public final class NamedArguments {

  private final Map<String, List<String>> given = new LinkedHashMap<>();

  /** Reads all of them. */
  public NamedArguments(String... args) {
    for (int i = 0; i < args.length; i += 2) {
      if (!args[i].startsWith("--") || i + 1 == args.length) {
        throw new IllegalArgumentException("expected --name value, got " + args[i]);
      }
      given.computeIfAbsent(args[i], name -> new ArrayList<>()).add(args[i + 1]);
    }
  }

  /** Takes all values of an argument that may come any number of times. */
  public List<String> all(String name) {
    List<String> values = given.remove(name);
    return values == null ? List.of() : values;
  }

  /** Takes the value of an argument that must be there; of several, the last. */
  public String text(String name) {
    List<String> values = all(name);
    if (values.isEmpty()) {
      throw new IllegalArgumentException(name + " is missing");
    }
    return values.getLast();
  }

  /** Takes a whole number. */
  public long whole(String name) {
    String value = text(name);
    try {
      return Long.parseLong(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + " must be a whole number, not " + value, e);
    }
  }

  /** Takes a number. */
  public double number(String name) {
    String value = text(name);
    try {
      return Double.parseDouble(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + " must be a number, not " + value, e);
    }
  }

  /** Refuses arguments that nobody has taken. */
  public void nothingElse() {
    if (!given.isEmpty()) {
      throw new IllegalArgumentException("unknown: " + given.keySet());
    }
  }
}
