package io.fairlead.core.receipt;

import org.jspecify.annotations.Nullable;

/**
 * Which requests are asked for; null for any.
 *
 * @param model as asked for
 * @param endpoint name of the one that got it last; empty for those that none got
 * @param outcome as {@link DecidedRequest#outcome}
 */
public record ReceiptFilter(
    @Nullable String model, @Nullable String endpoint, @Nullable String outcome) {

  /** Every request. */
  public static final ReceiptFilter ANY = new ReceiptFilter(null, null, null);
}
