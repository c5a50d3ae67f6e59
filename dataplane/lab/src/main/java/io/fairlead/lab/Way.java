package io.fairlead.lab;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A way to the model servers.
 *
 * @param name what the table calls it
 * @param url where requests go
 * @param processes ids of the processes on the way whose CPU time is measured, by name
 */
public record Way(String name, URI url, Map<String, Long> processes) {

  /**
   * Reads {@code NAME,URL,PROCESS=PID...}.
   *
   * @throws IllegalArgumentException that says what is expected
   */
  public static Way parse(String text) {
    String[] parts = text.split(",", -1);
    if (parts.length < 2) {
      throw new IllegalArgumentException("expected NAME,URL,PROCESS=PID..., got " + text);
    }
    Map<String, Long> processes = new LinkedHashMap<>();
    for (String part : List.of(parts).subList(2, parts.length)) {
      String[] process = part.split("=", -1);
      if (process.length != 2 || !process[1].matches("[0-9]{1,10}")) {
        throw new IllegalArgumentException("expected PROCESS=PID, got " + part);
      }
      processes.put(process[0], Long.valueOf(process[1]));
    }
    return new Way(parts[0], URI.create(parts[1]), processes);
  }
}
