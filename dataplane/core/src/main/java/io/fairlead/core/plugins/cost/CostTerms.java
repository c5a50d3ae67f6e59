package io.fairlead.core.plugins.cost;

import io.fairlead.core.view.CostTerm;
import java.util.List;

/** What a {@link WorkCost} is the sum of, in the words of a receipt. */
final class CostTerms {

  /** {@code Q i}. */
  static final int BACKLOG = 0;

  /** {@code Tp i}. */
  static final int PREFILL = 1;

  /** {@code V}. */
  static final int KV_CACHE = 2;

  /** {@code W}. */
  static final int SEAT = 3;

  /** {@code L}. */
  static final int ADAPTER = 4;

  static final int ADAPTER_SLOT = 5;

  /** {@code o S}. */
  static final int DECODE = 6;

  /** {@code X}, without what an adapter's load takes from others. */
  static final int OTHERS = 7;

  /** {@code M}. */
  static final int MISSED = 8;

  /** {@code E}. */
  static final int LATE = 9;

  /** {@code P}. */
  static final int TRANSFER = 10;

  /** {@code D}. */
  static final int ELSEWHERE = 11;

  static final List<CostTerm> ALL =
      List.of(
          new CostTerm("prefills before it", true),
          new CostTerm("its own prefill", true),
          new CostTerm("wait for KV cache", true),
          new CostTerm("wait for a seat", true),
          new CostTerm("adapter load", true),
          new CostTerm("wait for an adapter slot", true),
          new CostTerm("decoding", false),
          new CostTerm("delay of those there", false),
          new CostTerm("prefill that a cache would save", false),
          new CostTerm("later than it asked for", false),
          new CostTerm("KV transfer", true),
          new CostTerm("prefill by another", true));

  private CostTerms() {}
}
