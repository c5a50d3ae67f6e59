package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.prefix.PrefixIndex;
import io.fairlead.epp.openai.BodyBytes;
import io.fairlead.epp.openai.ParsedRequest;
import io.fairlead.epp.openai.RequestReader;
import io.fairlead.lab.simulator.Senses.Image;
import io.fairlead.lab.workload.RequestShape;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Prompts with images as the product reads them from a body, and as simulated pickers see them: the
 * same tokens, and as many blocks found by one prompt of what another has left.
 */
final class ImagesAcrossReadersTest {

  private static final int BLOCK = RequestShape.BLOCK_TOKENS;

  /** Bytes of the picker's text for each token where nothing is off. */
  private static final int TOKEN_BYTES = 4;

  private static final int IMAGE_BYTES_PER_TOKEN = 196;

  /** What the product takes any image for at least and at most. */
  private static final int FEWEST = 64;

  private static final int MOST = 2_880;

  private static final String BEGINNING =
      "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"";
  private static final String IMAGE = "\"},{\"type\":\"image_url\",\"image_url\":{\"url\":";
  private static final String BEHIND = "}},{\"type\":\"text\",\"text\":\"";
  private static final String END = "\"}]}]";

  private static final Senses SENSES = new Senses(Perception.parse("images=0.3"), 5);

  /** Three messages whose contents begin as those of others do, or not. */
  private static RequestShape shape(SplittableRandom random) {
    int[] ends = {60, 60 + 10 * random.nextInt(4, 6), 200};
    long[] blocks = new long[ends[2]];
    long content = 1;
    int at = 0;
    int[] messages = new int[6];
    for (int message = 0; message < 3; message++) {
      messages[2 * message] = at * BLOCK;
      long said = random.nextInt(2);
      for (; at < ends[message]; at++) {
        content = content * 31 + said + ends[message];
        blocks[at] = content * 0x9e3779b97f4a7c15L;
      }
      messages[2 * message + 1] = at * BLOCK;
    }
    return new RequestShape("m", "", blocks, at * BLOCK, 10, messages);
  }

  /**
   * Whether the product's guess at its images is within its bounds, and each stands within its
   * message, so that no JSON takes the place of what tells messages apart.
   */
  private static boolean usual(RequestShape shape, List<Image> images) {
    return images.stream()
        .allMatch(
            image ->
                image.estimate() >= FEWEST
                    && image.estimate() <= MOST
                    && IntStream.of(shape.messages())
                        .map(end -> end / BLOCK)
                        .noneMatch(
                            end ->
                                end == image.from()
                                    || end == image.from() - 1
                                    || end == image.to()));
  }

  /** A body of these bytes of text, with images where they are. What is JSON counts as text. */
  private static ParsedRequest read(RequestShape shape, List<Image> images) throws Exception {
    StringBuilder prompt = new StringBuilder(BEGINNING);
    int embedded = 0;
    int block = 0;
    for (Image image : images) {
      block = text(prompt, embedded, shape, block, image.from(), IMAGE.length());
      prompt.append(IMAGE);
      byte[] bytes = new byte[image.estimate() * IMAGE_BYTES_PER_TOKEN / 3 * 3 + 3];
      new SplittableRandom(shape.blocks()[image.to() - 1]).nextBytes(bytes);
      String url = "\"data:image/jpeg;base64," + Base64.getEncoder().encodeToString(bytes) + '"';
      prompt.append(url);
      embedded += url.length() - image.tokens() * TOKEN_BYTES;
      prompt.append(BEHIND);
      block = image.to();
    }
    text(prompt, embedded, shape, block, shape.promptBlocks(), END.length());
    prompt.append(END);
    String body = "{\"model\":\"m\",\"messages\":" + prompt + "}";
    return new RequestReader()
        .read("/v1/chat/completions", BodyBytes.of(body.getBytes(StandardCharsets.UTF_8)));
  }

  /** Fills up with what blocks say, until so many bytes are left of the block before {@code to}. */
  private static int text(
      StringBuilder prompt, int embedded, RequestShape shape, int from, int to, int left) {
    int end = embedded + to * BLOCK * TOKEN_BYTES - left;
    for (int at = prompt.length(); at < end; at++) {
      int block = (at - embedded) / (BLOCK * TOKEN_BYTES);
      assertThat(block).isBetween(from, to);
      long word = shape.blocks()[Math.min(block, to - 1)];
      prompt.append((char) ('a' + ((word >>> (at % 16 * 4)) & 15)));
    }
    return to;
  }

  private record Prompt(RequestShape shape, Seen seen, ParsedRequest read) {}

  private static List<Prompt> prompts(long seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    List<Prompt> prompts = new ArrayList<>();
    while (prompts.size() < 12) {
      RequestShape shape = shape(random);
      List<Image> images = SENSES.images(shape);
      if (usual(shape, images)) {
        prompts.add(new Prompt(shape, SENSES.prompt(shape), read(shape, images)));
      }
    }
    return prompts;
  }

  /** Blocks of a prompt that an index finds which has learned another. */
  private static int hits(long[] known, long[] asked) {
    PrefixIndex index = new PrefixIndex(1 << 20, Long.MAX_VALUE);
    index.forget(0);
    index.learn(0, 1, known, known.length);
    index.lookUp(1, asked, asked.length);
    return index.held(0);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void promptsAreAsLargeToBoth(long seed) throws Exception {
    for (Prompt prompt : prompts(seed)) {
      assertThat(prompt.read().prompt()).isEqualTo(prompt.seen().size());
      assertThat(prompt.read().blocks()).hasSize(prompt.seen().blocks().length);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void onePromptFindsAsMuchOfAnotherByBoth(long seed) throws Exception {
    List<Prompt> prompts = prompts(seed);
    Set<Integer> found = new HashSet<>();
    for (Prompt known : prompts) {
      for (Prompt asked : prompts) {
        int hits = hits(known.seen().blocks(), asked.seen().blocks());
        assertThat(hits)
            .as("%s after %s", asked.shape(), known.shape())
            .isEqualTo(hits(known.read().blocks(), asked.read().blocks()));
        found.add(hits);
      }
    }
    assertThat(found).as("some share little, some all").hasSizeGreaterThan(3);
  }

  /** What stands behind an image is found by whoever knows the image. */
  @Test
  void theSamePromptIsFoundToItsEndByBoth() throws Exception {
    for (Prompt prompt : prompts(9)) {
      int blocks = prompt.seen().blocks().length;

      assertThat(hits(prompt.seen().blocks(), prompt.seen().blocks())).isEqualTo(blocks);
      assertThat(hits(prompt.read().blocks(), prompt.read().blocks())).isEqualTo(blocks);
    }
  }
}
