package io.fairlead.plugin;

/** A listed plugin that configures what is built in, instead of doing something of its own. */
public non-sealed interface Setting extends Plugin {}
