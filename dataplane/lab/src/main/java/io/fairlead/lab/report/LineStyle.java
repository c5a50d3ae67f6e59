package io.fairlead.lab.report;

/**
 * How the line of the n-th policy looks: colour, dashes and a shape on it. Up to 56 lines differ in
 * colour and shape together; the shape tells those apart who don't see the colours.
 *
 * @param index of the policy
 */
record LineStyle(int index) {

  static final int COLOURS = 8;
  private static final int DASHES = 4;

  /** Around the origin, about eight units wide. */
  private static final String[] SHAPES = {
    "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    "m-3-3h6v6h-6z",
    "m0-4l4 7h-8z",
    "m0-4l4 4l-4 4l-4-4z",
    "m0 4l4-7h-8z",
    "m-1-4h2v3h3v2h-3v3h-2v-3h-3v-2h3z",
    "m-4-2l4 2l4-2v4l-4-2l-4 2z"
  };

  /** Classes of a line. */
  String line() {
    return "c" + index % COLOURS + " d" + index / COLOURS % DASHES;
  }

  /** Classes of a shape. */
  String shape() {
    return "m f" + index % COLOURS;
  }

  /** Path data of a shape there. */
  String shapeAt(double x, double y) {
    return "M" + Drawn.number(x) + " " + Drawn.number(y) + SHAPES[index % SHAPES.length];
  }
}
