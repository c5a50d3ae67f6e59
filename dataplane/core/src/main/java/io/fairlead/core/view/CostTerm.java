package io.fairlead.core.view;

/**
 * One of the times that a cost is the sum of.
 *
 * @param name what passes in it, as people call it
 * @param beforeFirstToken whether the request's own first token comes after it
 */
public record CostTerm(String name, boolean beforeFirstToken) {}
