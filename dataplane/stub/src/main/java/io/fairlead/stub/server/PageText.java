package io.fairlead.stub.server;

import java.util.Locale;

/** A metrics page being written, in Prometheus' text format as Python's client writes it. */
final class PageText {

  private final StringBuilder page = new StringBuilder(4096);
  private final String labels;

  /** A page whose samples have {@code labels}, unless they bring their own. */
  PageText(String labels) {
    this.labels = labels;
  }

  void gauge(String name, String help, double value) {
    family(name, "gauge", help);
    sample(name, labels, value);
  }

  void counter(String name, String help, double value) {
    family(name, "counter", help);
    sample(name, labels, value);
  }

  void family(String name, String type, String help) {
    page.append("# HELP ").append(name).append(' ').append(help).append('\n');
    page.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }

  void sample(String name, String labels, double value) {
    page.append(name);
    if (!labels.isEmpty()) {
      page.append('{').append(labels).append('}');
    }
    page.append(' ').append(number(value)).append('\n');
  }

  @Override
  public String toString() {
    return page.toString();
  }

  static String escape(String label) {
    return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }

  /** {@code 3.0}, and {@code 1.5e+09} where Java says {@code 1.5E9}. */
  private static String number(double value) {
    String text = Double.toString(value);
    int exponent = text.indexOf('E');
    if (exponent < 0) {
      return text;
    }
    return String.format(
        Locale.ROOT,
        "%se%+03d",
        text.substring(0, exponent),
        Integer.parseInt(text.substring(exponent + 1)));
  }
}
