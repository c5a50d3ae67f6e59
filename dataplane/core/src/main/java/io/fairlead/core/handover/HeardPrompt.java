package io.fairlead.core.handover;

/**
 * A prompt that another picker has sent to an endpoint that is the same here.
 *
 * @param endpoint its name
 * @param blocks salted hashes; not to be changed
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, not compared; copying would cost per block
public record HeardPrompt(String endpoint, long[] blocks) {}
