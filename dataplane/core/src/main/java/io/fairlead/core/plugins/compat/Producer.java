package io.fairlead.core.plugins.compat;

import io.fairlead.plugin.Parameters;

/** Settings by which upstream says whose data a plugin reads. */
public final class Producer {

  private Producer() {}

  /**
   * Takes the setting. There is one account of what is in flight and one prefix index here,
   * whatever their entries in the document are called, so the name chooses nothing.
   */
  public static void named(Parameters parameters, String field) {
    parameters.text(field, "");
  }
}
