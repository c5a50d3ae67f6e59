package io.fairlead.lab.report;

import java.util.Arrays;

/**
 * A plot of lines in one SVG element, written as it is drawn: first the axes, then in the order of
 * the calls, then {@link #end}.
 */
final class LinePlot {

  private static final int TOP = 8;
  private static final int BOTTOM = 22;
  private static final int RIGHT = 12;

  /** A label that is nearer than that to the end would not fit in the middle of its tick. */
  private static final int EDGE = 12;

  private final Markup out;
  private final Axis x;
  private final Axis y;
  private final int left;
  private final int right;
  private final int bottom;

  private LinePlot(Markup out, Size size, Axis x, Axis y) {
    this.out = out;
    this.x = x;
    this.y = y;
    this.left = size.left();
    this.right = size.width() - RIGHT;
    this.bottom = size.height() - BOTTOM;
  }

  /**
   * In units that are pixels where there is room, fewer where there is not.
   *
   * @param left room for the labels of the y axis
   */
  record Size(int width, int height, int left) {}

  static LinePlot begin(Markup out, Size size, String label, Axis x, Axis y) {
    var plot = new LinePlot(out, size, x, y);
    out.open(
        "svg",
        "viewBox",
        "0 0 " + size.width() + " " + size.height(),
        "role",
        "img",
        "aria-label",
        label);
    plot.axes();
    return plot;
  }

  /** What is between two lines. */
  void area(String cssClass, double[] xs, double[] lows, double[] highs) {
    int n = xs.length;
    if (n == 0) {
      return;
    }
    double[] aroundX = new double[2 * n];
    double[] aroundY = new double[2 * n];
    for (int i = 0; i < n; i++) {
      aroundX[i] = xs[i];
      aroundY[i] = highs[i];
      aroundX[2 * n - 1 - i] = xs[i];
      aroundY[2 * n - 1 - i] = Double.isNaN(highs[i]) ? Double.NaN : lows[i];
    }
    out.empty("path", "class", cssClass, "d", path(aroundX, aroundY) + "z");
  }

  /** A line that says its name to whoever points at it. */
  void line(String cssClass, String name, double[] xs, double[] ys) {
    out.open("path", "class", "l " + cssClass, "d", path(xs, ys)).element("title", name).close();
  }

  /** A policy's line with its shape on it at some of its points, others for every policy. */
  void styled(LineStyle style, String name, double[] xs, double[] ys, int shapes) {
    out.open("g", "class", "s s" + style.index()).element("title", name);
    out.empty("path", "class", "l " + style.line(), "d", path(xs, ys));
    var marks = new StringBuilder();
    for (int i = 0; i < shapes && xs.length > 0; i++) {
      double share = (i + 0.2 + 0.6 * (style.index() * 0.382 % 1)) / shapes;
      int at = (int) (share * (xs.length - 1));
      marks.append(style.shapeAt(x.at(xs[at], left, right), y.at(ys[at], bottom, TOP)));
    }
    out.empty("path", "class", style.shape(), "d", marks.toString()).close();
  }

  void end() {
    out.closeLine();
  }

  private void axes() {
    for (Axis.Tick tick : y.ticks()) {
      double at = y.at(tick.value(), bottom, TOP);
      out.empty("path", "class", "grid", "d", "M" + left + " " + Drawn.number(at) + "H" + right);
      text(tick.label(), left - 5, at + 4, "end");
    }
    for (Axis.Tick tick : x.ticks()) {
      double at = x.at(tick.value(), left, right);
      out.empty("path", "class", "grid", "d", "M" + Drawn.number(at) + " " + TOP + "V" + bottom);
      boolean atEnd = at > right - EDGE;
      text(tick.label(), atEnd ? right + RIGHT : at, bottom + 15, atEnd ? "end" : "middle");
    }
  }

  private void text(String text, double atX, double atY, String anchor) {
    out.element(
        "text", text, "x", Drawn.number(atX), "y", Drawn.number(atY), "text-anchor", anchor);
  }

  private String path(double[] xs, double[] ys) {
    return Drawn.path(
        Arrays.stream(xs).map(value -> x.at(value, left, right)).toArray(),
        Arrays.stream(ys)
            .map(value -> Double.isNaN(value) ? value : y.at(value, bottom, TOP))
            .toArray());
  }
}
