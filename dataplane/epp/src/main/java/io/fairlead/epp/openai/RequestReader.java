package io.fairlead.epp.openai;

/**
 * Reads an OpenAI request body in one pass: the model and where it stands, the limits, and the
 * chained hashes of the prompt's blocks. Copies no text. Not thread-safe; one per connection loop,
 * reused.
 */
public final class RequestReader {

  /**
   * Reads one body.
   *
   * @param body the whole request body, JSON in UTF-8
   * @throws BadRequestException if it is not JSON of the shape that {@code path} asks for
   */
  public ParsedRequest read(String path, byte[] body, int offset, int length)
      throws BadRequestException {
    throw new BadRequestException(400, "invalid_json", "not read");
  }
}
