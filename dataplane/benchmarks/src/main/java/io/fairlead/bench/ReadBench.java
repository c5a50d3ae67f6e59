package io.fairlead.bench;

import io.fairlead.epp.openai.BadRequestException;
import io.fairlead.epp.openai.BodyBytes;
import io.fairlead.epp.openai.ParsedRequest;
import io.fairlead.epp.openai.RequestReader;
import java.nio.charset.StandardCharsets;
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
import org.openjdk.jmh.annotations.Warmup;

/** Reads a request's body: checks its JSON, measures its prompt and hashes its blocks. */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ReadBench {

  private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz     ";

  /** Size of the body. */
  @Param({"100", "131072", "4194304"})
  public int bytes;

  /** What most of it is: words, an image in Base64, or ids of tokens with spaces between them. */
  @Param({"text", "image", "ids"})
  public String prompt = "";

  private final RequestReader reader = new RequestReader();
  private BodyBytes body = new BodyBytes();
  private String path = "";

  /** Makes the body. */
  @Setup
  public void body() {
    SplittableRandom random = new SplittableRandom(1);
    StringBuilder content = new StringBuilder(bytes + 16);
    while (content.length() < bytes - 60) {
      if (prompt.equals("ids")) {
        content.append(random.nextInt(128_000)).append(", ");
      } else {
        content.append(LETTERS.charAt(random.nextInt(prompt.equals("text") ? 31 : 26)));
      }
    }
    String json =
        switch (prompt) {
          case "ids" -> "{\"model\":\"m\",\"stream\":true,\"prompt\":[" + content + "1]}";
          case "image" ->
              "{\"model\":\"m\",\"messages\":[{\"content\":[{\"image_url\":{\"url\":\"data:image/png,"
                  + content
                  + "\"}}]}]}";
          default ->
              "{\"model\":\"m\",\"stream\":true,\"messages\":[{\"content\":\"" + content + "\"}]}";
        };
    path = prompt.equals("ids") ? "/v1/completions" : "/v1/chat/completions";
    body = BodyBytes.of(json.getBytes(StandardCharsets.UTF_8));
  }

  /** Reads it once. */
  @Benchmark
  public ParsedRequest read() throws BadRequestException {
    return reader.read(path, body);
  }
}
