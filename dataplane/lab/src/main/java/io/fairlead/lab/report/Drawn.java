package io.fairlead.lab.report;

/** Coordinates as SVG has them: tenths, and as short as they can be. */
final class Drawn {

  private Drawn() {}

  static String number(double value) {
    return tenths(Math.round(value * 10));
  }

  /** Path data through these points; a NaN lifts the pen. */
  static String path(double[] xs, double[] ys) {
    var path = new StringBuilder();
    boolean down = false;
    long lastX = 0;
    long lastY = 0;
    for (int i = 0; i < xs.length; i++) {
      if (Double.isNaN(ys[i])) {
        down = false;
        continue;
      }
      long x = Math.round(xs[i] * 10);
      long y = Math.round(ys[i] * 10);
      if (!down) {
        path.append('M').append(tenths(x)).append(' ').append(tenths(y));
      } else if (x != lastX || y != lastY) {
        path.append('l').append(tenths(x - lastX));
        path.append(y < lastY ? "" : " ").append(tenths(y - lastY));
      }
      down = true;
      lastX = x;
      lastY = y;
    }
    return path.toString();
  }

  private static String tenths(long value) {
    long size = Math.abs(value);
    String text =
        (size >= 10 || size == 0 ? Long.toString(size / 10) : "")
            + (size % 10 == 0 ? "" : "." + size % 10);
    return value < 0 ? "-" + text : text;
  }
}
