package io.fairlead.plugin;

/**
 * A part of a scheduling profile.
 *
 * <p>Every method of every plugin is called on its pool's loop, one call at a time: a plugin needs
 * no lock, may keep scratch arrays in fields, and must never block, do I/O or read a clock. A
 * plugin instance belongs to one pool.
 */
public sealed interface Plugin
    permits Filter,
        Scorer,
        Picker,
        ProfileHandler,
        Decider,
        SaturationDetector,
        UsageLimitPolicy,
        FairnessPolicy,
        OrderingPolicy,
        Assigner,
        Observer,
        Setting {}
