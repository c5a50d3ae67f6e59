package io.fairlead.plugin;

/** The flows of a priority band that a {@link FairnessPolicy} chooses from. */
public interface Flows {

  /** How many there are. */
  int size();

  /** One of them, from 0 on. */
  Flow get(int index);
}
