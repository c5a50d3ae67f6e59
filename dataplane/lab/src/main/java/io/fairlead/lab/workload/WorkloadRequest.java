package io.fairlead.lab.workload;

/**
 * One request of a workload.
 *
 * @param atNanos when it is sent, counted from the start of the run
 * @param model the model asked for
 * @param prompt text, made up; shared beginnings are byte for byte the same
 * @param system text that comes before the prompt, shared by a group of requests
 * @param outputTokens how many tokens the answer may have
 * @param stream whether the answer is streamed
 */
public record WorkloadRequest(
    long atNanos, String model, String system, String prompt, int outputTokens, boolean stream) {}
