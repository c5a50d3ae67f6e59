package io.fairlead.operator.reconcile;

/**
 * What the operator was started with.
 *
 * @param adopt serve pools whose Service nobody else provides without being claimed
 * @param eppImage image of pickers that name none
 */
public record Settings(boolean adopt, String eppImage) {}
