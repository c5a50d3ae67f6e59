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
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What another picker that is followed has told in a frame, read and checked as a whole before any
 * of it is taken.
 *
 * @param picker tells its process from those of all others
 * @param news in pieces, each of which takes little to take; what happened before is in no later
 *     piece, as a request may go on with what one has left that ended just before it was sent
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

  private static final Comparator<Told> OLDEST_FIRST =
      Comparator.comparingLong(Told::age).reversed();

  /**
   * One thing that happened.
   *
   * @param age nanoseconds that had passed when it was told
   * @param blocks what it counts for in a piece
   */
  private record Told(long age, int blocks, Consumer<Piece> to) {}

  /** Where requests were sent. */
  private record Place(EndpointSpec endpoint, double startedAt) {}

  /** Of what happened, as much as is taken at once. */
  private static final class Piece {

    private final Map<Place, List<SentRequest>> sent = new LinkedHashMap<>();
    private final List<News.Computed> computed = new ArrayList<>();
    private final List<News.Over> over = new ArrayList<>();
    private int blocks;

    News news(boolean anew) {
      List<SentRequests> all = new ArrayList<>(sent.size());
      sent.forEach(
          (at, requests) -> all.add(new SentRequests(at.endpoint(), at.startedAt(), requests)));
      return new News(anew, all, computed, over);
    }
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
    private @Nullable Place place;
    private final List<Told> told = new ArrayList<>();
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
          EndpointSpec endpoint =
              new EndpointSpec(in.readUTF(), in.readUTF(), in.readUTF(), in.readInt(), Map.of());
          place = new Place(endpoint, in.readDouble());
          in.readInt();
        }
        case Wire.SENT -> request();
        case Wire.COMPUTED -> {
          News.Computed one = new News.Computed(in.readLong(), age());
          told.add(new Told(one.age(), 1, piece -> piece.computed.add(one)));
        }
        case Wire.OVER -> {
          News.Over one = new News.Over(in.readLong(), end());
          told.add(new Told(one.end().age(), 1, piece -> piece.over.add(one)));
        }
        default -> throw new IOException("a record of kind " + kind);
      }
    }

    private void request() throws IOException {
      Place at = place;
      if (at == null) {
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
      SentRequest request = new SentRequest(number, age, load, isComputed, end, prompt);
      told.add(
          new Told(
              age,
              1 + hashes.length,
              piece -> piece.sent.computeIfAbsent(at, _ -> new ArrayList<>()).add(request)));
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

    HeardNews all() throws IOException {
      if (!known) {
        throw new IOException("news of nobody");
      }
      told.sort(OLDEST_FIRST);
      List<News> pieces = new ArrayList<>();
      Piece piece = new Piece();
      for (Told one : told) {
        if (piece.blocks >= mostBlocks) {
          pieces.add(piece.news(anew && pieces.isEmpty()));
          piece = new Piece();
        }
        one.to().accept(piece);
        piece.blocks += one.blocks();
      }
      pieces.add(piece.news(anew && pieces.isEmpty()));
      return new HeardNews(picker, List.copyOf(pieces), prompts);
    }
  }
}
