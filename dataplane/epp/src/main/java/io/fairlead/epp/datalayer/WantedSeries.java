package io.fairlead.epp.datalayer;

import io.fairlead.epp.datalayer.MetricMapping.Entry;
import io.fairlead.epp.datalayer.MetricMapping.Fold;
import io.fairlead.plugin.Readings;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;

/**
 * One entry of a mapping while a page goes by: recognises its lines and folds what they tell.
 *
 * <p>A line is {@code name{label="value",…} value [timestamp]}. One that does not keep to that is
 * no match; nothing on a page can make this throw.
 */
final class WantedSeries {

  private final String key;
  private final Fold fold;
  private final boolean text;
  private final byte[] name;
  private final byte[][] selectorNames;
  private final byte[][] selectorValues;
  private final byte[] label;

  private double value = Double.NaN;

  /** The label's text as it stands on the page. */
  private byte[] told = new byte[0];

  private int toldLength = -1;
  private double newest = Double.NEGATIVE_INFINITY;

  /** Where the last label looked for starts and ends, quotes excluded; valid after a hit. */
  private int labelStart;

  private int labelEnd;

  WantedSeries(Entry entry) {
    key = entry.key();
    text = entry.text();
    fold = entry.fold();
    name = utf8(entry.name());
    label = entry.label() == null ? new byte[0] : utf8(entry.label());
    selectorNames = new byte[entry.selector().size()][];
    selectorValues = new byte[entry.selector().size()][];
    int i = 0;
    for (Map.Entry<String, String> e : entry.selector().entrySet()) {
      selectorNames[i] = utf8(e.getKey());
      selectorValues[i++] = MetricMapping.escaped(e.getValue());
    }
  }

  /** Says what the series told, if they told anything. */
  void tell(Readings readings) {
    if (text && toldLength >= 0) {
      readings.text(key, unescaped(told, toldLength));
    } else if (!Double.isNaN(value)) {
      readings.number(key, value);
    }
  }

  void reset() {
    value = Double.NaN;
    toldLength = -1;
    newest = Double.NEGATIVE_INFINITY;
  }

  /**
   * Looks at one line of the page.
   *
   * @return whether it is of a series of this name
   */
  boolean offer(byte[] line, int start, int end) {
    int afterName = start + name.length;
    // Where a name ends is looked at first: that rules out nearly all lines by one byte.
    if (afterName >= end
        || !endsName(line[afterName])
        || !Arrays.equals(line, start, afterName, name, 0, name.length)) {
      return false;
    }
    take(line, afterName, end);
    return true;
  }

  private void take(byte[] line, int afterName, int end) {
    int afterLabels = line[afterName] == '{' ? closing(line, afterName + 1, end) : afterName;
    if (afterLabels < 0 || !selected(line, afterName, afterLabels)) {
      return;
    }
    double sample = Decimal.parse(line, skipBlanks(line, afterLabels, end), end);
    double number = sample;
    if (text) {
      if (find(line, afterName, afterLabels, label)) {
        keep(line, sample);
      }
      return;
    }
    if (label.length > 0) {
      number =
          find(line, afterName, afterLabels, label)
              ? Decimal.parse(line, labelStart, labelEnd)
              : Double.NaN;
    }
    if (!Double.isNaN(number)) {
      boolean newer = sample >= newest;
      value = PrometheusPage.fold(fold, value, number, newer);
      newest = newer ? sample : newest;
    }
  }

  private void keep(byte[] line, double sample) {
    boolean newer = fold == Fold.NEWEST && sample >= newest;
    if (toldLength >= 0 && !newer) {
      return;
    }
    int length = labelEnd - labelStart;
    if (length > told.length) {
      told = new byte[length];
    }
    System.arraycopy(line, labelStart, told, 0, length);
    toldLength = length;
    newest = newer ? sample : newest;
  }

  private static String unescaped(byte[] bytes, int length) {
    String text = new String(bytes, 0, length, StandardCharsets.UTF_8);
    if (text.indexOf('\\') < 0) {
      return text;
    }
    StringBuilder plain = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\\' && i + 1 < text.length()) {
        c = text.charAt(++i);
        c = c == 'n' ? '\n' : c;
      }
      plain.append(c);
    }
    return plain.toString();
  }

  private boolean selected(byte[] line, int open, int close) {
    for (int i = 0; i < selectorNames.length; i++) {
      if (!find(line, open, close, selectorNames[i])
          || !Arrays.equals(
              line, labelStart, labelEnd, selectorValues[i], 0, selectorValues[i].length)) {
        return false;
      }
    }
    return true;
  }

  /** Finds a label between the braces at {@code open} and just before {@code close}. */
  private boolean find(byte[] line, int open, int close, byte[] wantedName) {
    int at = open + 1;
    while (at < close) {
      while (at < close && (blank(line[at]) || line[at] == ',')) {
        at++;
      }
      int nameStart = at;
      while (at < close && line[at] != '=') {
        at++;
      }
      int nameEnd = at;
      while (nameEnd > nameStart && blank(line[nameEnd - 1])) {
        nameEnd--;
      }
      int quote = skipBlanks(line, at + 1, close);
      if (quote >= close || line[quote] != '"') {
        return false;
      }
      int endQuote = endOfText(line, quote + 1, close);
      if (endQuote < 0) {
        return false;
      }
      if (Arrays.equals(line, nameStart, nameEnd, wantedName, 0, wantedName.length)) {
        labelStart = quote + 1;
        labelEnd = endQuote;
        return true;
      }
      at = endQuote + 1;
    }
    return false;
  }

  /** Index just after the brace that closes the labels; a brace between quotes does not. */
  private static int closing(byte[] line, int from, int end) {
    for (int i = from; i < end; i++) {
      if (line[i] == '}') {
        return i + 1;
      }
      if (line[i] == '"') {
        i = endOfText(line, i + 1, end);
        if (i < 0) {
          return -1;
        }
      }
    }
    return -1;
  }

  /** Index of the quote that ends a text. */
  private static int endOfText(byte[] line, int from, int end) {
    for (int i = from; i < end; i++) {
      if (line[i] == '\\') {
        i++;
      } else if (line[i] == '"') {
        return i;
      }
    }
    return -1;
  }

  private static int skipBlanks(byte[] line, int from, int end) {
    int i = from;
    while (i < end && blank(line[i])) {
      i++;
    }
    return i;
  }

  /** Whether a byte is what may stand after a series' name. */
  static boolean endsName(byte b) {
    return b == '{' || blank(b);
  }

  private static boolean blank(byte b) {
    return b == ' ' || b == '\t';
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
