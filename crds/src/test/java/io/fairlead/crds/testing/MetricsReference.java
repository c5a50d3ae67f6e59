package io.fairlead.crds.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a page of metrics in Prometheus's text format says of its families, as a table. */
public final class MetricsReference {
  private static final Pattern SAMPLE = Pattern.compile("(\\w+)(?:\\{(.*)})? \\S+");
  private static final Pattern LABEL = Pattern.compile("(\\w+)=\"(?:[^\"\\\\]|\\\\.)*\"");
  private static final Pattern UNIT = Pattern.compile("_(seconds|bytes|tokens|blocks)(?:_total)?$");

  /** Labels that say which part of a family a sample is. */
  private static final List<String> PARTS = List.of("le", "quantile");

  /**
   * Series of one name.
   *
   * @param labels their names
   */
  private record Family(String type, String help, NavigableSet<String> labels) {}

  private final NavigableMap<String, Family> families = new TreeMap<>();

  /**
   * Reads a page. Largest recent values, which stand beside histograms with the end {@code _max},
   * are no families of their own.
   */
  public MetricsReference(String scraped) {
    Map<String, String> helps = new TreeMap<>();
    for (String line : scraped.lines().toList()) {
      String[] words = line.split(" ", 4);
      if (line.startsWith("# HELP ")) {
        helps.put(words[2], words.length > 3 ? words[3] : "");
      } else if (line.startsWith("# TYPE ") && !words[2].endsWith("_max")) {
        families.put(
            words[2], new Family(words[3], helps.getOrDefault(words[2], ""), new TreeSet<>()));
      }
    }
    scraped.lines().map(SAMPLE::matcher).filter(Matcher::matches).forEach(this::sample);
  }

  private void sample(MatchResult sample) {
    Family family =
        Stream.of("", "_bucket", "_sum", "_count")
            .filter(part -> sample.group(1).endsWith(part))
            .map(part -> sample.group(1).substring(0, sample.group(1).length() - part.length()))
            .map(families::get)
            .filter(known -> known != null)
            .findFirst()
            .orElse(null);
    if (family != null && sample.group(2) != null) {
      LABEL
          .matcher(sample.group(2))
          .results()
          .map(label -> label.group(1))
          .filter(label -> !PARTS.contains(label))
          .forEach(family.labels()::add);
    }
  }

  /** Of all families. */
  public List<String> names() {
    return new ArrayList<>(families.keySet());
  }

  /** Adds the table. */
  public void add(GeneratedPage page) {
    page.table("name", "type", "unit", "labels", "what");
    families.forEach(
        (name, family) -> {
          Matcher unit = UNIT.matcher(name);
          page.row(
              GeneratedPage.code(name),
              family.type(),
              unit.find() ? unit.group(1) : "",
              family.labels().stream().map(GeneratedPage::code).collect(Collectors.joining(", ")),
              GeneratedPage.prose(family.help()));
        });
  }
}
