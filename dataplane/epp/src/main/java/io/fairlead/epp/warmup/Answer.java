package io.fairlead.epp.warmup;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** What model servers answer: a chat completion in one piece, and one in events. */
final class Answer {

  static final String JSON = "application/json";
  static final String EVENTS = "text/event-stream; charset=utf-8";

  static final byte[] WHOLE =
      """
      {"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"warm-up","choices":[{"index":0,\
      "message":{"role":"assistant","content":"It said \\"so\\", and %s."},"logprobs":null,\
      "finish_reason":"stop"}],"usage":{"prompt_tokens":200,"total_tokens":240,"completion_tokens":40,\
      "prompt_tokens_details":{"cached_tokens":32}}}"""
          .formatted("left. ".repeat(40))
          .getBytes(StandardCharsets.UTF_8);

  /** As many as an answer of some length has. */
  private static final int TOKENS = 24;

  static final List<byte[]> STREAMED = streamed();

  private Answer() {}

  private static List<byte[]> streamed() {
    List<byte[]> events = new ArrayList<>();
    for (int i = 0; i < TOKENS; i++) {
      events.add(
          event(
              "\"choices\":[{\"index\":0,\"delta\":{\"content\":\" token%d\"},\"finish_reason\":null}]"
                  .formatted(i)));
    }
    events.add(
        event(
            "\"choices\":[],\"usage\":{\"prompt_tokens\":200,\"total_tokens\":224,"
                + "\"completion_tokens\":24,\"prompt_tokens_details\":{\"cached_tokens\":32}}"));
    events.add("data: [DONE]\n\n".getBytes(StandardCharsets.UTF_8));
    return List.copyOf(events);
  }

  private static byte[] event(String rest) {
    return """
        data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"warm-up",%s}

        """
        .formatted(rest)
        .getBytes(StandardCharsets.UTF_8);
  }
}
