package io.fairlead.bench;

import io.fairlead.core.Usage;
import io.fairlead.epp.openai.ModelRename;
import io.fairlead.epp.openai.ResponseWatcher;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Looks for the usage in an answer's bytes, or for its model's name, while they pass. */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class WatchBench {

  private static final int EVENTS = 100;
  private static final String COUNTS =
      "\"usage\":{\"prompt_tokens\":1200,\"completion_tokens\":100,\"total_tokens\":1300}}";

  /**
   * A stream of 100 tokens, each in a buffer; a whole text of 20 KB, or 20 KB of an embedding's
   * numbers, in buffers of 16 KiB.
   */
  @Param({"stream", "text", "numbers"})
  public String answer = "";

  private final List<ByteBuf> pieces = new ArrayList<>();
  private String type = "application/json";

  /** Makes the answer. */
  @Setup
  public void answer() {
    SplittableRandom random = new SplittableRandom(1);
    if (answer.equals("stream")) {
      type = "text/event-stream";
      for (int i = 0; i < EVENTS; i++) {
        piece(event("{\"content\":\" token\"}", "null", ",\"usage\":null}"));
      }
      piece(event("{}", "\"stop\"", "," + COUNTS));
      piece("data: [DONE]\n\n");
      return;
    }
    StringBuilder content = new StringBuilder();
    while (content.length() < 20_000) {
      if (answer.equals("numbers")) {
        content.append(random.nextDouble(-1, 1)).append(',');
      } else {
        content.append((char) ('a' + random.nextInt(26)));
        content.append(random.nextInt(6) == 0 ? " " : random.nextInt(80) == 0 ? "\\n" : "");
      }
    }
    String json =
        answer.equals("numbers")
            ? "{\"model\":\"llama\",\"data\":[{\"embedding\":[" + content + "0]}]," + COUNTS
            : "{\"model\":\"llama\",\"choices\":[{\"message\":{\"content\":\""
                + content
                + "\"}}],"
                + COUNTS;
    for (int at = 0; at < json.length(); at += 16_384) {
      piece(json.substring(at, Math.min(json.length(), at + 16_384)));
    }
  }

  private static String event(String delta, String finish, String end) {
    return "data: {\"id\":\"chatcmpl-a81bc81bdead4e5d8f1c4f6a1d9c7b20\",\"object\":\"chat.completion.chunk\","
        + "\"created\":1763800000,\"model\":\"llama\",\"choices\":[{\"index\":0,\"delta\":"
        + delta
        + ",\"logprobs\":null,\"finish_reason\":"
        + finish
        + "}]"
        + end
        + "\n\n";
  }

  private void piece(String text) {
    pieces.add(Unpooled.directBuffer().writeBytes(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** Gives the buffers back. */
  @TearDown
  public void release() {
    pieces.forEach(ByteBuf::release);
    pieces.clear();
  }

  /** Looks for the usage. */
  @Benchmark
  public Usage watch() {
    ResponseWatcher watcher = new ResponseWatcher("/v1/completions", type);
    for (ByteBuf piece : pieces) {
      watcher.watch(piece);
    }
    return watcher.usage();
  }

  /** Looks for a name that is not there, so that nothing is copied. */
  @Benchmark
  public boolean rename() {
    ModelRename rename = Objects.requireNonNull(ModelRename.of("other", "asked", type));
    for (ByteBuf piece : pieces) {
      var _ = rename.pass(piece, false);
      if (rename.changed()) {
        throw new IllegalStateException("renamed");
      }
    }
    return rename.changed();
  }
}
