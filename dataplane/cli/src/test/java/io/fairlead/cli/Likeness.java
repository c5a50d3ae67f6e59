package io.fairlead.cli;

import java.awt.Color;
import java.awt.image.BufferedImage;

/**
 * Whether two pictures of a page look alike. They are compared by the mean colours of small
 * squares: how a letter is drawn, or which digit it is, makes hardly a difference there; whether
 * something is there at all, and where, does.
 */
final class Likeness {

  /** Side of a square, in pixels. */
  static final int SQUARE = 12;

  /** Squares whose colours differ by more look different. */
  private static final int NOTABLE = 12;

  /**
   * Squares along a side of a part: what is missing in one is not made up for by all the others.
   */
  private static final int PART = 10;

  private Likeness() {}

  /** A picture with one pixel for each square. */
  static BufferedImage small(BufferedImage picture) {
    int width = Math.ceilDiv(picture.getWidth(), SQUARE);
    int height = Math.ceilDiv(picture.getHeight(), SQUARE);
    BufferedImage small = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
    for (int x = 0; x < width; x++) {
      for (int y = 0; y < height; y++) {
        small.setRGB(x, y, mean(picture, x * SQUARE, y * SQUARE));
      }
    }
    return small;
  }

  /**
   * How different two small pictures look: the share of squares that do, in the part where most do;
   * 1 for those of other sizes.
   */
  static double difference(BufferedImage one, BufferedImage other) {
    int height = Math.min(one.getHeight(), other.getHeight());
    if (one.getWidth() != other.getWidth()
        || Math.abs(one.getHeight() - other.getHeight()) > height / 50 + 1) {
      return 1;
    }
    double most = 0;
    for (int x = 0; x < one.getWidth(); x += PART) {
      for (int y = 0; y < height; y += PART) {
        int right = Math.min(x + PART, one.getWidth());
        int bottom = Math.min(y + PART, height);
        most = Math.max(most, different(one, other, x, y, right, bottom) / (PART * PART));
      }
    }
    return most;
  }

  private static double different(
      BufferedImage one, BufferedImage other, int left, int top, int right, int bottom) {
    int different = 0;
    for (int x = left; x < right; x++) {
      for (int y = top; y < bottom; y++) {
        different += distance(one.getRGB(x, y), other.getRGB(x, y)) > NOTABLE ? 1 : 0;
      }
    }
    return different;
  }

  private static int distance(int one, int other) {
    Color a = new Color(one);
    Color b = new Color(other);
    return Math.max(
        Math.abs(a.getRed() - b.getRed()),
        Math.max(Math.abs(a.getGreen() - b.getGreen()), Math.abs(a.getBlue() - b.getBlue())));
  }

  private static int mean(BufferedImage picture, int left, int top) {
    int right = Math.min(left + SQUARE, picture.getWidth());
    int bottom = Math.min(top + SQUARE, picture.getHeight());
    long red = 0;
    long green = 0;
    long blue = 0;
    for (int x = left; x < right; x++) {
      for (int y = top; y < bottom; y++) {
        Color colour = new Color(picture.getRGB(x, y));
        red += colour.getRed();
        green += colour.getGreen();
        blue += colour.getBlue();
      }
    }
    int pixels = (right - left) * (bottom - top);
    return new Color((int) (red / pixels), (int) (green / pixels), (int) (blue / pixels)).getRGB();
  }
}
