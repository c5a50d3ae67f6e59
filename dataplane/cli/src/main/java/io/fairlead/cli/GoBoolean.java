package io.fairlead.cli;

import java.util.Set;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads what Go takes for true and false. */
final class GoBoolean implements ITypeConverter<Boolean> {

  private static final Set<String> TRUE = Set.of("1", "t", "T", "TRUE", "true", "True");
  private static final Set<String> FALSE = Set.of("0", "f", "F", "FALSE", "false", "False");

  @Override
  public Boolean convert(String text) {
    if (TRUE.contains(text) || FALSE.contains(text)) {
      return TRUE.contains(text);
    }
    throw new TypeConversionException("'" + text + "' is neither true nor false");
  }
}
