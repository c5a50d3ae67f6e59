package io.fairlead.epp.openai;

import io.fairlead.core.Outcome;
import io.fairlead.core.PromptSize;

/**
 * What the scheduler needs from a request body.
 *
 * @param model the {@code model} field, unescaped; empty where none is named
 * @param modelStart offset from the body's first byte of where the model stands: of its JSON
 *     string, opening quote included, or of its text in a form
 * @param modelEnd offset just after it; 0 where none is named
 * @param json whether the model stands as a JSON string
 * @param maxOutputTokens the request's own limit, or -1; 0 for calls that no answer's tokens come
 *     of
 * @param answers sequences that the engine is to decode for it, 1 or more
 * @param streamed whether the answer is to come token by token
 * @param followsUp whether it names an earlier answer that whoever serves it is to have
 * @param prompt how large the prompt is
 * @param blocks chained hashes of the prompt's whole blocks
 */
@SuppressWarnings("ArrayRecordComponent") // handed over to the core, never compared
public record ParsedRequest(
    String model,
    int modelStart,
    int modelEnd,
    boolean json,
    int maxOutputTokens,
    int answers,
    boolean streamed,
    boolean followsUp,
    PromptSize prompt,
    long[] blocks) {

  /** Of a body that can't be read. */
  public static final ParsedRequest UNKNOWN =
      new ParsedRequest("", 0, 0, false, -1, 1, false, false, PromptSize.NONE, new long[0]);

  /**
   * How a request with this body has ended, by an answer with this status that is judged so. That
   * an earlier answer is not there says nothing of the model: its client has made it up, or another
   * endpoint has it.
   */
  public Outcome outcome(int status, Outcome judged) {
    return followsUp && status == 404 ? Outcome.INVALID : judged;
  }
}
