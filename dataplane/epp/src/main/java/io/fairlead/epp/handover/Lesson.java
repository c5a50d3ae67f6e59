package io.fairlead.epp.handover;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.TakeOver;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What another picker has told, read and checked as a whole before any of it is taken. Prompts are
 * told newest first and taken oldest first, so that what is used next is as new here as there.
 */
final class Lesson {

  /** Stands for the estimate of tokens among the plugins. */
  private static final int TOKENS = -1;

  private static final long UNTOLD = -1;

  private final List<General> general = new ArrayList<>();
  private final List<Told> endpoints = new ArrayList<>();
  private final Map<Integer, Part> parts = new HashMap<>();
  private String configHash = "";
  private String hashing = "";
  private long hashes;

  /** Of no single endpoint. */
  @SuppressWarnings("ArrayRecordComponent") // read once, never compared
  private record General(int plugin, String key, double[] values) {}

  /** An endpoint with what is told of it. */
  private static final class Told {
    private final EndpointSpec spec;
    private final double startedAt;
    private final int blocks;
    private long idle = UNTOLD;
    private final List<General> speeds = new ArrayList<>();
    private final List<Held> prompts = new ArrayList<>();

    Told(EndpointSpec spec, double startedAt, int blocks) {
      this.spec = spec;
      this.startedAt = startedAt;
      this.blocks = blocks;
    }
  }

  @SuppressWarnings("ArrayRecordComponent") // read once, never compared
  private record Part(@Nullable Part before, int depth, long[] blocks) {}

  private record Held(Part last, int count) {

    /** All blocks of the prompt. */
    long[] blocks() {
      long[] all = new long[last.depth() + count];
      int until = all.length;
      for (Part part = last; part != null; part = part.before()) {
        int own = Math.min(part.blocks().length, until - part.depth());
        System.arraycopy(part.blocks(), 0, all, part.depth(), own);
        until = part.depth();
      }
      return all;
    }
  }

  /**
   * Reads the next frame.
   *
   * @throws IOException if it makes no sense
   */
  void read(byte[] frame) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(frame));
    while (in.available() > 0) {
      readRecord(in.readByte(), in);
    }
  }

  private void readRecord(byte kind, DataInputStream in) throws IOException {
    switch (kind) {
      case Wire.CONFIG -> {
        configHash = in.readUTF();
        hashing = in.readUTF();
      }
      case Wire.TOKENS -> general.add(new General(TOKENS, in.readUTF(), numbers(in)));
      case Wire.LEARNED ->
          general.add(new General(notNegative(in.readInt()), in.readUTF(), numbers(in)));
      case Wire.ENDPOINT ->
          endpoints.add(
              new Told(
                  new EndpointSpec(
                      in.readUTF(), in.readUTF(), in.readUTF(), in.readInt(), Map.of()),
                  in.readDouble(),
                  in.readInt()));
      case Wire.IDLE -> last().idle = notNegative(in.readLong());
      case Wire.SPEEDS ->
          last().speeds.add(new General(notNegative(in.readInt()), "", numbers(in)));
      case Wire.PART -> part(in);
      case Wire.HELD -> held(in);
      case Wire.CUT -> parts.clear();
      default -> throw new IOException("a record of kind " + kind);
    }
  }

  private void part(DataInputStream in) throws IOException {
    int number = in.readInt();
    int before = in.readInt();
    int length = notNegative(in.readInt());
    if (length == 0 || length > in.available() / Long.BYTES) {
      throw new IOException("a part of " + length + " blocks");
    }
    Part parent = before < 0 ? null : known(before);
    int depth = parent == null ? 0 : parent.depth() + parent.blocks().length;
    if (depth + length > Wire.LONGEST_PROMPT) {
      throw new IOException("a prompt of " + (depth + length) + " blocks");
    }
    long[] blocks = new long[length];
    for (int i = 0; i < length; i++) {
      blocks[i] = in.readLong();
    }
    hashes += length;
    parts.put(number, new Part(parent, depth, blocks));
  }

  private void held(DataInputStream in) throws IOException {
    Part part = known(in.readInt());
    int count = in.readInt();
    if (count < 1 || count > part.blocks().length) {
      throw new IOException(count + " of " + part.blocks().length + " blocks");
    }
    last().prompts.add(new Held(part, count));
  }

  private Part known(int number) throws IOException {
    Part part = parts.get(number);
    if (part == null) {
      throw new IOException("part " + number + ", which was not told");
    }
    return part;
  }

  private Told last() throws IOException {
    if (endpoints.isEmpty()) {
      throw new IOException("something of no endpoint");
    }
    return endpoints.getLast();
  }

  private static int notNegative(int number) throws IOException {
    return (int) notNegative((long) number);
  }

  private static long notNegative(long number) throws IOException {
    if (number < 0) {
      throw new IOException("the number " + number);
    }
    return number;
  }

  private static double[] numbers(DataInputStream in) throws IOException {
    int count = in.readInt();
    if (count < 0 || count > in.available() / Double.BYTES) {
      throw new IOException(count + " numbers");
    }
    double[] numbers = new double[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = in.readDouble();
    }
    return numbers;
  }

  /** Hashes of blocks that were told. */
  long hashes() {
    return hashes;
  }

  /** What there is to take, a step at a time; each is short. */
  final class Taking {

    private final boolean sameConfig;
    private final boolean sameHashing;
    private int endpoint;
    private int prompt;
    private boolean begun;
    private boolean taken;
    private int takenEndpoints;
    private long takenPrompts;

    Taking(HandOverPool pool) {
      sameConfig = configHash.equals(pool.configHash());
      sameHashing = hashing.equals(pool.hashing());
    }

    int endpoints() {
      return takenEndpoints;
    }

    long prompts() {
      return takenPrompts;
    }

    /**
     * Takes some of it.
     *
     * @param now of the pool's clock
     * @param mostBlocks about
     * @return false when there is no more
     */
    boolean next(TakeOver to, long now, int mostBlocks) {
      if (!begun) {
        begun = true;
        for (General one : general) {
          if (one.plugin() == TOKENS) {
            to.tokens(one.key(), one.values());
          } else if (sameConfig) {
            to.learned(one.plugin(), one.key(), one.values());
          }
        }
        return true;
      }
      int blocks = 0;
      while (blocks < mostBlocks) {
        if (endpoint == endpoints.size()) {
          return false;
        }
        blocks += step(endpoints.get(endpoint), to, now);
      }
      return true;
    }

    private int step(Told told, TakeOver to, long now) {
      String name = told.spec.name();
      if (prompt == 0) {
        taken = to.endpoint(told.spec, told.startedAt, told.blocks);
        takenEndpoints += taken ? 1 : 0;
        if (taken && told.idle != UNTOLD) {
          to.idle(now, name, told.idle);
        }
        for (General one : told.speeds) {
          if (taken && sameConfig) {
            to.speeds(now, name, one.plugin(), one.values());
          }
        }
      }
      if (!taken || !sameHashing || prompt == told.prompts.size()) {
        endpoint++;
        prompt = 0;
        return 1;
      }
      prompt++;
      long[] blocks = told.prompts.get(told.prompts.size() - prompt).blocks();
      to.held(name, blocks, blocks.length);
      takenPrompts++;
      return blocks.length;
    }
  }
}
