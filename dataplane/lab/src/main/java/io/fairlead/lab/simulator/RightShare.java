package io.fairlead.lab.simulator;

/**
 * What share of the requests sent is right for a server from some time on: its speed over that of
 * all that serve then. Defined where all servers are of one kind.
 *
 * @param server its name
 * @param what has become of it, in a few words
 * @param from when that is so, in seconds from the start of the run
 * @param until when something else happens, or the run ends
 * @param share that is right, above 0 to 1
 */
public record RightShare(String server, String what, double from, double until, double share) {}
