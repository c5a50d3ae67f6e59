package io.fairlead.lab.evaluation;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * What a part came to when it was last made.
 *
 * @param command that made it
 * @param commit what of; ends in {@code +} when sources had been changed since
 * @param scheduler {@link SchedulerVersion} of what decided
 * @param plan {@link Plan#fingerprint} of the part at that time
 * @param quick whether seeds and seconds were cut short, so that it says nothing
 * @param seeds of every row
 * @param rows in the order in which they were run
 */
public record PartResults(
    String command,
    String commit,
    String scheduler,
    String plan,
    boolean quick,
    List<Long> seeds,
    List<Row> rows) {

  public PartResults {
    seeds = List.copyOf(seeds);
    rows = List.copyOf(rows);
  }

  /** Of one contender in one case. */
  Optional<Row> row(Row.Setting setting, String contender) {
    return rows.stream()
        .filter(row -> row.setting().equals(setting) && row.contender().equals(contender))
        .findFirst();
  }

  /** The cases, in the order in which they were run. */
  List<Row.Setting> settings() {
    return rows.stream().map(Row::setting).distinct().toList();
  }

  /** As it is kept: a row a line. */
  public String json() {
    return PartResultsFile.write(this);
  }

  /**
   * Reads what {@link #json} wrote.
   *
   * @throws IOException that names what is wrong
   */
  public static PartResults read(String json) throws IOException {
    return PartResultsFile.read(json);
  }
}
