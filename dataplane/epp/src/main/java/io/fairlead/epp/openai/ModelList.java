package io.fairlead.epp.openai;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** The answer to {@code GET /v1/models}. */
public final class ModelList {

  private ModelList() {}

  /** The list with these names, in UTF-8. */
  public static byte[] of(List<String> names) {
    StringBuilder json = new StringBuilder("{\"object\":\"list\",\"data\":[");
    for (int i = 0; i < names.size(); i++) {
      json.append(i == 0 ? "" : ",").append("{\"id\":\"");
      JsonString.append(json, names.get(i));
      json.append("\",\"object\":\"model\",\"created\":0,\"owned_by\":\"fairlead\"}");
    }
    return json.append("]}").toString().getBytes(StandardCharsets.UTF_8);
  }
}
