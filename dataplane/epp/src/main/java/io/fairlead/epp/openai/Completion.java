package io.fairlead.epp.openai;

import java.nio.charset.StandardCharsets;

/** The smallest request that makes an engine work. */
public final class Completion {

  /** Where it is asked for. */
  public static final String PATH = "/v1/completions";

  private Completion() {}

  /** The body that asks this model for one token, in UTF-8. */
  public static byte[] ofOneToken(String model) {
    StringBuilder json = new StringBuilder("{\"model\":\"");
    JsonString.append(json, model);
    return json.append("\",\"prompt\":\".\",\"max_tokens\":1}")
        .toString()
        .getBytes(StandardCharsets.UTF_8);
  }
}
