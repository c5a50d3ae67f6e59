package io.fairlead.crds.document;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Whole numbers in Kubernetes' syntax, e.g. {@code 1Gi}, {@code 500M}, {@code 2e9}. */
final class Quantity {

  private static final Pattern FORM =
      Pattern.compile(
          "([+-]?(?:\\d{1,30}(?:\\.\\d{0,30})?|\\.\\d{1,30}))"
              + "(?:[eE]([+-]?\\d{1,2})|(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?)");
  private static final Map<String, BigDecimal> FACTORS =
      Map.ofEntries(
          Map.entry("n", BigDecimal.ONE.scaleByPowerOfTen(-9)),
          Map.entry("u", BigDecimal.ONE.scaleByPowerOfTen(-6)),
          Map.entry("m", BigDecimal.ONE.scaleByPowerOfTen(-3)),
          Map.entry("k", BigDecimal.ONE.scaleByPowerOfTen(3)),
          Map.entry("M", BigDecimal.ONE.scaleByPowerOfTen(6)),
          Map.entry("G", BigDecimal.ONE.scaleByPowerOfTen(9)),
          Map.entry("T", BigDecimal.ONE.scaleByPowerOfTen(12)),
          Map.entry("P", BigDecimal.ONE.scaleByPowerOfTen(15)),
          Map.entry("E", BigDecimal.ONE.scaleByPowerOfTen(18)),
          Map.entry("Ki", BigDecimal.TWO.pow(10)),
          Map.entry("Mi", BigDecimal.TWO.pow(20)),
          Map.entry("Gi", BigDecimal.TWO.pow(30)),
          Map.entry("Ti", BigDecimal.TWO.pow(40)),
          Map.entry("Pi", BigDecimal.TWO.pow(50)),
          Map.entry("Ei", BigDecimal.TWO.pow(60)));

  private Quantity() {}

  /** A number from 0 to 2^63 - 1; null when it is another, not a whole one, or none at all. */
  static @Nullable Long parse(JsonNode node) {
    if (!node.isTextual() && !node.isNumber()) {
      return null;
    }
    Matcher form = FORM.matcher(node.asText());
    if (!form.matches()) {
      return null;
    }
    String number = form.group(1);
    BigDecimal value = new BigDecimal(number.endsWith(".") ? number + "0" : number);
    if (form.group(2) != null) {
      value = value.scaleByPowerOfTen(Integer.parseInt(form.group(2)));
    } else if (form.group(3) != null) {
      value = value.multiply(FACTORS.getOrDefault(form.group(3), BigDecimal.ONE));
    }
    boolean fits =
        value.signum() >= 0
            && value.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) <= 0
            && value.stripTrailingZeros().scale() <= 0;
    return fits ? value.longValueExact() : null;
  }
}
