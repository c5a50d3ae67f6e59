package io.fairlead.epp.datalayer;

/** Reads decimal numbers from bytes without making a string of them. */
final class Decimal {

  /** Digits that a long surely holds; more only shift the exponent. */
  private static final int MAX_DIGITS = 18;

  private Decimal() {}

  /**
   * The number from {@code start} up to a blank or {@code end}, within a last digit of exact; NaN
   * for {@code NaN}, the infinities (no engine has infinitely many of anything) and anything else.
   */
  static double parse(byte[] bytes, int start, int end) {
    int at = start;
    boolean negative = at < end && bytes[at] == '-';
    if (negative || (at < end && bytes[at] == '+')) {
      at++;
    }
    long mantissa = 0;
    int digits = 0;
    int exponent = 0;
    boolean any = false;
    boolean fraction = false;
    for (; at < end; at++) {
      byte b = bytes[at];
      if (b == '.' && !fraction) {
        fraction = true;
      } else if (b >= '0' && b <= '9') {
        any = true;
        if (digits < MAX_DIGITS) {
          mantissa = mantissa * 10 + (b - '0');
          digits += mantissa == 0 ? 0 : 1;
          exponent -= fraction ? 1 : 0;
        } else {
          exponent += fraction ? 0 : 1;
        }
      } else {
        break;
      }
    }
    if (!any) {
      return Double.NaN;
    }
    if (at < end && (bytes[at] == 'e' || bytes[at] == 'E')) {
      int sign = at + 1 < end && bytes[at + 1] == '-' ? -1 : 1;
      int digit = at + 1 < end && (bytes[at + 1] == '-' || bytes[at + 1] == '+') ? at + 2 : at + 1;
      int written = 0;
      int first = digit;
      while (digit < end && bytes[digit] >= '0' && bytes[digit] <= '9') {
        written = Math.min(10_000, written * 10 + (bytes[digit++] - '0'));
      }
      if (digit == first) {
        return Double.NaN;
      }
      exponent += sign * written;
      at = digit;
    }
    if (at < end && bytes[at] != ' ' && bytes[at] != '\t') {
      return Double.NaN;
    }
    double value = scale(mantissa, exponent);
    return Double.isInfinite(value) ? Double.NaN : negative ? -value : value;
  }

  private static double scale(long mantissa, int exponent) {
    if (mantissa == 0 || exponent == 0) {
      return mantissa;
    }
    return exponent < 0 && exponent >= -300
        ? mantissa / Math.pow(10, -exponent)
        : mantissa * Math.pow(10, exponent);
  }
}
