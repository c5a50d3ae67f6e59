package io.fairlead.epp.openai;

import io.fairlead.core.PromptSize;

/**
 * What the scheduler needs from a request body.
 *
 * @param model the {@code model} field, unescaped
 * @param modelStart offset of the model's JSON string from the body's first byte, opening quote
 *     included
 * @param modelEnd offset just after its closing quote, from the body's first byte
 * @param maxOutputTokens the request's own limit, or -1
 * @param streamed whether the answer is to come token by token
 * @param prompt how large the prompt is
 * @param blocks chained hashes of the prompt's whole blocks
 */
@SuppressWarnings("ArrayRecordComponent") // handed over to the core, never compared
public record ParsedRequest(
    String model,
    int modelStart,
    int modelEnd,
    int maxOutputTokens,
    boolean streamed,
    PromptSize prompt,
    long[] blocks) {}
