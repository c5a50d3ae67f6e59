package io.fairlead.epp.handover;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.handover.News;
import io.fairlead.core.handover.SentRequest;
import io.fairlead.core.handover.SentRequest.Load;
import io.fairlead.core.handover.SentRequest.Prompt;
import io.fairlead.core.handover.SentRequests;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What another picker that is followed has told in a frame, read and checked as a whole before any
 * of it is taken.
 *
 * @param picker tells its process from those of all others
 * @param news in pieces, each of which takes little to take; in order
 * @param prompts how many prompts it tells of
 */
record HeardNews(long picker, List<News> news, int prompts) {

  /** A time that is longer ago is none: 12 days. */
  private static final long OLDEST = 1L << 50;

  /**
   * Reads a frame.
   *
   * @param hashing how prompts are hashed here: of those that are hashed in another way only what
   *     they take up counts
   * @param mostBlocks of a piece, about
   * @throws IOException if it makes no sense
   */
  static HeardNews read(byte[] frame, String hashing, int mostBlocks) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(frame));
    Reader reader = new Reader(in, hashing, mostBlocks);
    while (in.available() > 0) {
      reader.next();
    }
    return reader.all();
  }

  /** Of one frame. */
  private static final class Reader {

    private final DataInputStream in;
    private final String hashing;
    private final int mostBlocks;
    private boolean sameHashing;
    private boolean known;
    private long picker;
    private boolean anew;
    private @Nullable EndpointSpec endpoint;
    private double startedAt;
    private final List<SentRequest> requests = new ArrayList<>();
    private final List<SentRequests> sent = new ArrayList<>();
    private final List<News.Computed> computed = new ArrayList<>();
    private final List<News.Over> over = new ArrayList<>();
    private final List<News> pieces = new ArrayList<>();
    private int blocks;
    private int prompts;

    Reader(DataInputStream in, String hashing, int mostBlocks) {
      this.in = in;
      this.hashing = hashing;
      this.mostBlocks = mostBlocks;
    }

    void next() throws IOException {
      byte kind = in.readByte();
      switch (kind) {
        case Wire.CONFIG -> {
          in.readUTF();
          sameHashing = hashing.equals(in.readUTF());
        }
        case Wire.FROM -> {
          known = true;
          picker = in.readLong();
          anew = in.readBoolean();
        }
        case Wire.ENDPOINT -> {
          endEndpoint();
          endpoint =
              new EndpointSpec(in.readUTF(), in.readUTF(), in.readUTF(), in.readInt(), Map.of());
          startedAt = in.readDouble();
          in.readInt();
        }
        case Wire.SENT -> request();
        case Wire.COMPUTED -> {
          computed.add(new News.Computed(in.readLong(), age()));
          count(1);
        }
        case Wire.OVER -> {
          over.add(new News.Over(in.readLong(), end()));
          count(1);
        }
        default -> throw new IOException("a record of kind " + kind);
      }
    }

    private void request() throws IOException {
      if (endpoint == null) {
        throw new IOException("something of no endpoint");
      }
      long number = in.readLong();
      long age = age();
      int tokens = in.readInt();
      int cached = in.readInt();
      int answers = in.readInt();
      boolean isPrompt = tokens >= 0 && cached >= 0 && cached <= tokens;
      if (!isPrompt || answers < 0 || answers > RequestFacts.MOST_ANSWERS) {
        throw new IOException(
            "a request of %d tokens, %d cached, %d answers".formatted(tokens, cached, answers));
      }
      Load load =
          new Load(tokens, cached, answers, in.readBoolean(), in.readBoolean(), in.readBoolean());
      boolean isComputed = in.readBoolean();
      News.End end = in.readBoolean() ? end() : null;
      long[] hashes = blocks();
      prompts += hashes.length > 0 ? 1 : 0;
      Prompt prompt =
          hashes.length > 0 && sameHashing ? new Prompt(0, hashes, hashes.length) : Prompt.NONE;
      requests.add(new SentRequest(number, age, load, isComputed, end, prompt));
      count(1 + hashes.length);
    }

    private long[] blocks() throws IOException {
      int length = in.readInt();
      if (length < 0 || length > in.available() / Long.BYTES || length > Wire.LONGEST_PROMPT) {
        throw new IOException("a prompt of " + length + " blocks");
      }
      long[] hashes = new long[length];
      for (int i = 0; i < length; i++) {
        hashes[i] = in.readLong();
      }
      return hashes;
    }

    private News.End end() throws IOException {
      return new News.End(age(), in.readInt());
    }

    private long age() throws IOException {
      long age = in.readLong();
      if (age < 0 || age > OLDEST) {
        throw new IOException("something " + age + " ns ago");
      }
      return age;
    }

    private void count(int more) {
      blocks += more;
      if (blocks >= mostBlocks) {
        endPiece();
      }
    }

    private void endEndpoint() {
      EndpointSpec at = endpoint;
      if (at != null && !requests.isEmpty()) {
        sent.add(new SentRequests(at, startedAt, requests));
        requests.clear();
      }
    }

    private void endPiece() {
      endEndpoint();
      pieces.add(new News(anew, sent, computed, over));
      anew = false;
      sent.clear();
      computed.clear();
      over.clear();
      blocks = 0;
    }

    HeardNews all() throws IOException {
      if (!known) {
        throw new IOException("news of nobody");
      }
      endPiece();
      return new HeardNews(picker, List.copyOf(pieces), prompts);
    }
  }
}
