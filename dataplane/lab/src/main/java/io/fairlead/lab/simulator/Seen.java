package io.fairlead.lab.simulator;

import io.fairlead.core.PromptSize;

/**
 * What a picker sees of a prompt.
 *
 * @param size what its size is estimated by
 * @param blocks hashes of its text, one for each block of the picker's prefix index
 * @param bodyBytes length of the request
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, not compared
record Seen(PromptSize size, long[] blocks, long bodyBytes) {}
