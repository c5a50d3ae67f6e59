package io.fairlead.epp.handover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.core.EndpointSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is read of another picker, whatever that sends. */
class LessonTest {

  @TempDir private Path temporary;

  private static byte[] frame() {
    FrameWriter writer = new FrameWriter();
    writer.config("hash", "plain");
    writer.tokens("m", new double[] {4, 1, 2, 1});
    writer.learned(0, "output/", new double[] {200, 200, 40_000, 1});
    writer.endpoint(new EndpointSpec("a", "1", "10.0.0.1", 8000, Map.of()), 100, 50);
    writer.idle(1_000_000_000);
    writer.speeds(0, new double[] {1, 2, 3});
    writer.cut();
    writer.part(7, -1, new long[] {1, 2, 3});
    writer.part(9, 7, new long[] {4, 5});
    writer.held(9, 1);
    return writer.take();
  }

  @Test
  void readsWhatWasWritten() throws IOException {
    Lesson lesson = new Lesson();
    lesson.read(frame());
    assertThat(lesson.hashes()).isEqualTo(5);
    // Numbers of parts hold from one frame to the next.
    FrameWriter writer = new FrameWriter();
    writer.held(7, 3);
    lesson.read(writer.take());
    writer.cut();
    writer.held(7, 3);
    byte[] after = writer.take();
    assertThatThrownBy(() -> lesson.read(after)).hasMessageContaining("part 7");
  }

  @Test
  void refusesWhatMakesNoSense() {
    FrameWriter writer = new FrameWriter();
    writer.part(1, 1, new long[] {1});
    byte[] itself = writer.take();
    assertThatThrownBy(() -> new Lesson().read(itself)).hasMessageContaining("part 1");
    writer.part(1, -1, new long[] {1});
    writer.held(1, 1);
    byte[] nobodys = writer.take();
    assertThatThrownBy(() -> new Lesson().read(nobodys)).hasMessageContaining("no endpoint");
    writer.endpoint(new EndpointSpec("a", "1", "10.0.0.1", 8000, Map.of()), 100, 50);
    writer.part(1, -1, new long[] {1});
    writer.held(1, 2);
    byte[] more = writer.take();
    assertThatThrownBy(() -> new Lesson().read(more)).hasMessageContaining("2 of 1 blocks");
  }

  /** Nothing but the one exception, and no memory beyond what came. */
  @Test
  void survivesAnyBytes() {
    SplittableRandom random = new SplittableRandom(5);
    byte[] sound = frame();
    int refused = 0;
    for (int i = 0; i < 50_000; i++) {
      byte[] bytes = sound.clone();
      for (int k = 1 + random.nextInt(3); k > 0; k--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
      }
      try {
        new Lesson().read(bytes);
      } catch (IOException e) {
        refused++;
      }
    }
    assertThat(refused).isGreaterThan(10_000);
  }

  @Test
  void aSecretIsLongEnoughAndNeverTheSameOverAnotherNumber() throws IOException {
    Path file = Files.writeString(temporary.resolve("secret"), "  0123456789abcdef\n");
    SharedSecret secret = SharedSecret.read(file);
    byte[] asker = new byte[SharedSecret.NONCE_BYTES];
    byte[] teller = new byte[SharedSecret.NONCE_BYTES];
    byte[] once = secret.over(Wire.Question.HAND_OVER.asks, asker, teller).doFinal();
    assertThat(secret.over(Wire.Question.HAND_OVER.asks, asker, teller).doFinal()).isEqualTo(once);
    assertThat(secret.over(Wire.Question.HAND_OVER.tells, asker, teller).doFinal())
        .isNotEqualTo(once);
    asker[3] = 1;
    assertThat(secret.over(Wire.Question.HAND_OVER.asks, asker, teller).doFinal())
        .isNotEqualTo(once);
    assertThat(secret.over(Wire.Question.HAND_OVER.asks, teller, asker).doFinal())
        .isNotEqualTo(secret.over(Wire.Question.HAND_OVER.asks, asker, teller).doFinal());
    Files.writeString(file, "short");
    assertThatThrownBy(() -> SharedSecret.read(file)).hasMessageContaining("has 5 bytes");
  }
}
