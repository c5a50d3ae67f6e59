package io.fairlead.lab.simulator;

import io.fairlead.core.PromptSize;
import io.fairlead.core.Usage;
import io.fairlead.core.account.TokenEstimate;
import io.fairlead.lab.workload.RequestShape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What pickers see of a run, by its {@link Perception}. Everything is drawn from a seed of its own,
 * and nothing where there is nothing to draw, so that an ideal run draws as if this were not there.
 *
 * <p>What is off about a request follows from what it asks for, not from when it comes: under
 * another policy the next turn of a conversation comes at another time, and is the same prompt.
 */
final class Senses {

  /** Tells these draws apart from all others. */
  private static final long SEED = 0x5e75_0a11_7e57L;

  /** Tell draws of one request apart. */
  private static final long IMAGES = 1;

  private static final long USAGE = 2;

  private static final long STREAM = 3;

  private static final int BYTES_PER_TOKEN = TokenEstimate.USUAL_BYTES;

  /** A photograph's bytes for each token that it is estimated to cost. */
  private static final int IMAGE_BYTES_PER_TOKEN = 196;

  /** Between a quarter and three of a message are its image. */
  private static final double LEAST_IMAGE = 0.25;

  private static final double MOST_IMAGE = 0.75;

  /** An image costs up to so many times more or fewer tokens than its bytes let expect. */
  private static final double IMAGE_ERROR = 4;

  /** Events of a stream that carry no token, as the servers that it plays send them. */
  private static final int EVENTS_AROUND = 2;

  private static final double NANOS_PER_MILLI = 1e6;
  private static final long GOLDEN = 0x9e3779b97f4a7c15L;

  private final Perception perception;
  private final long seed;
  private final SplittableRandom random;

  Senses(Perception perception, long seed) {
    this.perception = perception;
    this.seed = seed;
    random = new SplittableRandom(seed ^ SEED);
  }

  /**
   * An image in a prompt.
   *
   * @param from its first block, of the engine's
   * @param to the block behind its last
   * @param estimate how many tokens it is taken for
   */
  record Image(int from, int to, int estimate) {

    int tokens() {
      return (to - from) * RequestShape.BLOCK_TOKENS;
    }
  }

  /** What is seen of a prompt. */
  Seen prompt(RequestShape shape) {
    List<Image> images = images(shape);
    double factor = bytesFactor(shape.model());
    int textTokens = shape.promptTokens();
    long estimate = 0;
    for (Image image : images) {
      textTokens -= image.tokens();
      estimate += image.estimate();
    }
    if (perception.images() == 0 && factor == 1) {
      return new Seen(
          PromptSize.ofTokens(textTokens),
          Arrays.copyOf(shape.blocks(), shape.promptBlocks()),
          (long) textTokens * BYTES_PER_TOKEN);
    }
    long textBytes = Math.max(1, Math.round(textTokens * BYTES_PER_TOKEN * factor));
    return new Seen(
        new PromptSize(textBytes, (int) Math.min(estimate, Integer.MAX_VALUE)),
        images.isEmpty() ? blocks(shape, factor) : blocks(shape, factor, images),
        textBytes + estimate * IMAGE_BYTES_PER_TOKEN);
  }

  /** Bytes per token of a model over the usual ones: the same for all of a run. */
  double bytesFactor(String model) {
    if (perception.tokenError() == 0) {
      return 1;
    }
    long ofModel = seed ^ SEED ^ ((long) model.hashCode() << Integer.SIZE);
    double share = new SplittableRandom(ofModel).nextDouble(-1, 1);
    return 1 + perception.tokenError() * share;
  }

  private SplittableRandom of(RequestShape shape, long purpose) {
    long identity = mix(seed ^ SEED) + purpose;
    identity = mix(identity + shape.model().hashCode()) + GOLDEN * shape.tenant().hashCode();
    identity = mix(identity + shape.promptTokens()) + GOLDEN * shape.outputTokens();
    for (int i = 0; i < shape.promptBlocks(); i++) {
      identity = mix(identity + GOLDEN) ^ shape.blocks()[i];
    }
    return new SplittableRandom(identity);
  }

  /** The same message at the same place has the same image, whatever comes behind it. */
  List<Image> images(RequestShape shape) {
    if (perception.images() == 0) {
      return List.of();
    }
    List<Image> images = new ArrayList<>();
    int[] messages = shape.messages();
    for (int i = 0; i < messages.length; i += 2) {
      int from = Math.ceilDiv(messages[i], RequestShape.BLOCK_TOKENS);
      int to = Math.min(messages[i + 1] / RequestShape.BLOCK_TOKENS, shape.promptBlocks());
      if (from < to) {
        long message = mix(shape.blocks()[to - 1] + GOLDEN * messages[i + 1]);
        image(from, to, new SplittableRandom(mix(seed ^ SEED) + IMAGES ^ message), images);
      }
    }
    return images;
  }

  private void image(int from, int to, SplittableRandom random, List<Image> images) {
    if (random.nextDouble() >= perception.images()) {
      return;
    }
    int blocks = (int) ((to - from) * random.nextDouble(LEAST_IMAGE, MOST_IMAGE));
    if (blocks > 0) {
      int begin = from + random.nextInt(to - from - blocks + 1);
      images.add(
          new Image(begin, begin + blocks, estimated(blocks * RequestShape.BLOCK_TOKENS, random)));
    }
  }

  private static int estimated(int tokens, SplittableRandom random) {
    double error = Math.pow(IMAGE_ERROR, random.nextDouble(-1, 1));
    return Math.clamp(Math.round(tokens * error), 1, Integer.MAX_VALUE);
  }

  /**
   * The picker's blocks are of so many bytes, an engine's of so many tokens. Where a picker's block
   * ends within an engine's, its content is known by the engine's block.
   */
  private static long[] blocks(RequestShape shape, double factor) {
    int known = shape.promptBlocks();
    long[] blocks = new long[(int) (known * factor)];
    for (int i = 0; i < blocks.length; i++) {
      int end = (int) Math.ceil((i + 1) / factor) - 1;
      blocks[i] = block(shape, Math.min(end, known - 1), i);
    }
    return blocks;
  }

  /**
   * The same with images: each fills as many of the picker's blocks as that much text as it is
   * taken for. A digest of all of it is in each, so that one that ends within it is known by the
   * engine's block in which the image ends.
   */
  private static long[] blocks(RequestShape shape, double factor, List<Image> images) {
    int known = shape.promptBlocks();
    double length = known * factor;
    for (Image image : images) {
      length += pickersBlocks(image) - (image.to() - image.from()) * factor;
    }
    long[] blocks = new long[(int) length + 1];
    int count = 0;
    double reached = 0;
    int text = 0;
    for (int n = 0; n <= images.size(); n++) {
      Image image = n < images.size() ? images.get(n) : null;
      int textEnd = image == null ? known : image.from();
      double from = reached;
      reached += (textEnd - text) * factor;
      for (; count + 1 <= reached; count++) {
        int end = text + (int) Math.ceil((count + 1 - from) / factor) - 1;
        blocks[count] = block(shape, Math.min(end, textEnd - 1), count);
      }
      if (image != null) {
        reached += pickersBlocks(image);
        for (; count + 1 <= reached; count++) {
          blocks[count] = block(shape, image.to() - 1, count);
        }
        text = image.to();
      }
    }
    return Arrays.copyOf(blocks, count);
  }

  private static double pickersBlocks(Image image) {
    return (double) image.estimate() / TokenEstimate.USUAL_BLOCK_TOKENS;
  }

  /** Names a picker's block by the engine's that it ends in. */
  private static long block(RequestShape shape, int engines, int pickers) {
    return mix(shape.blocks()[engines] + pickers * GOLDEN);
  }

  private static long mix(long value) {
    long mixed = (value ^ (value >>> 32)) * 0xd6e8feb86659fd93L;
    return mixed ^ (mixed >>> 32);
  }

  /** Whether the answer to a request comes as a stream, and not in one piece. */
  boolean streams(RequestShape shape) {
    return perception.unstreamed() == 0
        || of(shape, STREAM).nextDouble() >= perception.unstreamed();
  }

  /** What an answer told of its usage. */
  Usage usage(Flight flight) {
    RequestShape shape = flight.shape;
    int events = flight.streamed ? shape.outputTokens() + EVENTS_AROUND : 0;
    boolean told =
        perception.usage() == 1
            || !flight.streamed
            || of(shape, USAGE).nextDouble() < perception.usage();
    if (!told) {
      return new Usage(-1, -1, -1, events);
    }
    return new Usage(
        shape.promptTokens(),
        shape.outputTokens(),
        perception.cachedTokens() ? flight.cachedTokens : -1,
        events);
  }

  /** What the network adds to something on its way, ns. */
  long jitterNanos() {
    if (perception.jitterMillis() == 0) {
      return 0;
    }
    double exponential = -Math.log(1 - random.nextDouble());
    return Math.round(perception.jitterMillis() * exponential * NANOS_PER_MILLI);
  }

  /** How old a metrics page is when it is there, ns. */
  long pageNanos() {
    return Math.round(perception.metricsMillis() * NANOS_PER_MILLI) + jitterNanos();
  }
}
