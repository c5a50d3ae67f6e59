package io.fairlead.epp.kvevents;

import com.dynatrace.hash4j.hashing.Hashing;
import io.fairlead.core.prefix.CacheEvent;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ValueType;

/**
 * Reads a message of KV events in msgpack, as vLLM and SGLang of any version write it: the batch
 * and its events are arrays or maps, hashes are whole numbers or bytes, and there may be fields and
 * kinds of events that are not known here.
 *
 * <p>Token ids are read to be hashed, and go nowhere else.
 */
final class EventDecoder {

  private static final List<String> BATCH = List.of("ts", "events");

  private static final List<String> STORED =
      List.of(
          "block_hashes",
          "parent_block_hash",
          "token_ids",
          "block_size",
          "lora_id",
          "medium",
          "lora_name",
          "extra_keys",
          "group_idx");

  private static final List<String> REMOVED = List.of("block_hashes", "medium", "group_idx");

  /** Of all events of a message: the largest cache has fewer, and each takes eight bytes here. */
  static final int MOST_BLOCKS = 1 << 20;

  /**
   * Of all events of a message: an engine tells of what one step of it has computed, some ten
   * thousands, and an id takes four bytes here where it may have taken one.
   */
  static final int MOST_TOKENS = 1 << 22;

  /** Engines nest lists less deep. */
  private static final int DEEPEST = 16;

  private static final int NOWHERE = -1;

  private final byte[] payload;
  private final int offset;
  private final MessageUnpacker in;
  private int blocks;
  private int allTokens;
  private int ignored;

  private EventDecoder(byte[] payload, int offset) {
    this.payload = payload;
    this.offset = offset;
    in = MessagePack.newDefaultUnpacker(payload, offset, payload.length - offset);
  }

  /**
   * Reads one message.
   *
   * @throws MalformedEventsException if it is no batch of events
   */
  static EventBatch decode(byte[] payload) throws MalformedEventsException {
    try {
      return new EventDecoder(payload, 0).batch();
    } catch (IOException | MessagePackException | IllegalArgumentException e) {
      // Their texts may quote what they read.
      throw new MalformedEventsException("no batch of events: " + e.getClass().getSimpleName());
    }
  }

  /** Reads the fields of a list, by their places, or of a map, by their names. */
  private final class Fields {

    private final List<String> names;
    private final boolean map;
    private int left;
    private int place;

    Fields(List<String> names, boolean map, int left) {
      this.names = names;
      this.map = map;
      this.left = left;
    }

    /** The next field that is known and says something; empty after the last one. */
    String next() throws IOException, MalformedEventsException {
      while (left > 0) {
        left--;
        String name;
        if (map) {
          name = in.unpackString();
        } else {
          name = place < names.size() ? names.get(place) : "";
          place++;
        }
        if (!in.tryUnpackNil()) {
          if (names.contains(name)) {
            return name;
          }
          skip(0);
        }
      }
      return "";
    }
  }

  private EventBatch batch() throws IOException, MalformedEventsException {
    double timestamp = 0;
    List<CacheEvent> events = new ArrayList<>();
    boolean map = isMap();
    Fields fields = new Fields(BATCH, map, map ? mapHeader() : arrayHeader());
    boolean any = false;
    for (String field = fields.next(); !field.isEmpty(); field = fields.next()) {
      if (field.equals("ts")) {
        timestamp = isInteger() ? in.unpackLong() : in.unpackDouble();
      } else {
        any = true;
        int count = arrayHeader();
        for (int i = 0; i < count; i++) {
          event(events::add);
        }
      }
    }
    if (!any) {
      throw new MalformedEventsException("there are no events in it");
    }
    if (!Double.isFinite(timestamp)) {
      throw new MalformedEventsException("its time is none"); // nothing would be later than it
    }
    return new EventBatch(timestamp, events, ignored);
  }

  private void event(Consumer<CacheEvent> to) throws IOException, MalformedEventsException {
    boolean map = isMap();
    String type;
    int left;
    if (map) {
      // Before the rest, since what fields there are follows from it.
      type = new EventDecoder(payload, offset + (int) in.getTotalReadBytes()).type();
      left = mapHeader();
    } else {
      left = arrayHeader() - 1;
      if (left < 0) {
        throw new MalformedEventsException("an event is empty");
      }
      type = in.unpackString();
    }
    switch (type) {
      case "BlockStored" -> stored(new Fields(STORED, map, left), to);
      case "BlockRemoved" -> removed(new Fields(REMOVED, map, left), to);
      default -> {
        new Fields(List.of(), map, left).next();
        if (type.equals("AllBlocksCleared")) {
          to.accept(new CacheEvent.Cleared());
        } else {
          ignored++;
        }
      }
    }
  }

  /** The type of the event at which this begins. */
  private String type() throws IOException, MalformedEventsException {
    String type = new Fields(List.of("type"), true, mapHeader()).next();
    if (type.isEmpty()) {
      throw new MalformedEventsException("an event has no type");
    }
    return in.unpackString();
  }

  private void stored(Fields fields, Consumer<CacheEvent> to)
      throws IOException, MalformedEventsException {
    long[] hashes = {};
    int[] tokens = {};
    int blockTokens = 0;
    Long parent = null;
    String adapter = "";
    long adapterId = NOWHERE;
    boolean own = true;
    List<String> keys = List.of();
    for (String field = fields.next(); !field.isEmpty(); field = fields.next()) {
      switch (field) {
        case "block_hashes" -> hashes = hashes();
        case "parent_block_hash" -> parent = hash();
        case "token_ids" -> tokens = tokens();
        case "block_size" -> blockTokens = in.unpackInt();
        case "lora_id" -> adapterId = in.unpackLong();
        case "lora_name" -> adapter = in.unpackString();
        case "extra_keys" -> keys = keys();
        default -> own &= isOwn(field);
      }
    }
    if (!own) {
      ignored++;
      return;
    }
    if (adapter.isEmpty() && adapterId != NOWHERE) {
      adapter = "#" + adapterId; // it has no name: counted, and no model's
    }
    if (blockTokens < 1 || tokens.length != (long) hashes.length * blockTokens) {
      throw new MalformedEventsException("tokens and blocks don't agree");
    }
    // An adapter's name is a key of its own; any other says that there is more than tokens.
    int plain = 0;
    while (plain < hashes.length
        && (plain >= keys.size() || keys.get(plain).isEmpty() || keys.get(plain).equals(adapter))) {
      plain++;
    }
    if (plain > 0) {
      boolean all = plain == hashes.length; // as nearly always: what was read goes on as it is
      to.accept(
          new CacheEvent.Stored(
              all ? hashes : Arrays.copyOf(hashes, plain),
              parent != null,
              parent == null ? 0 : parent,
              all ? tokens : Arrays.copyOf(tokens, plain * blockTokens),
              blockTokens,
              adapter,
              false));
    }
    if (plain < hashes.length) {
      boolean follows = plain > 0 || parent != null;
      long before = plain > 0 ? hashes[plain - 1] : parent == null ? 0 : parent;
      to.accept(
          new CacheEvent.Stored(
              Arrays.copyOfRange(hashes, plain, hashes.length),
              follows,
              before,
              Arrays.copyOfRange(tokens, plain * blockTokens, tokens.length),
              blockTokens,
              adapter,
              true));
    }
  }

  private void removed(Fields fields, Consumer<CacheEvent> to)
      throws IOException, MalformedEventsException {
    long[] hashes = {};
    boolean own = true;
    for (String field = fields.next(); !field.isEmpty(); field = fields.next()) {
      if (field.equals("block_hashes")) {
        hashes = hashes();
      } else {
        own &= isOwn(field);
      }
    }
    if (own) {
      to.accept(new CacheEvent.Removed(hashes));
    } else {
      ignored++;
    }
  }

  /**
   * Whether blocks are in the engine's own memory, and of its first group of layers: those of other
   * groups of a hybrid model are told again, and those on other media are slower to get.
   */
  private boolean isOwn(String field) throws IOException {
    return field.equals("medium")
        ? in.unpackString().equalsIgnoreCase("gpu")
        : in.unpackLong() == 0;
  }

  private long[] hashes() throws IOException, MalformedEventsException {
    int count = arrayHeader();
    if (count > MOST_BLOCKS - blocks) {
      throw new MalformedEventsException("it tells of more blocks than any engine has");
    }
    blocks += count;
    long[] hashes = new long[count];
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] = hash();
    }
    return hashes;
  }

  private long hash() throws IOException, MalformedEventsException {
    return switch (in.getNextFormat().getValueType()) {
      case INTEGER -> in.unpackBigInteger().longValue();
      case BINARY -> digest(in.readPayload(within(in.unpackBinaryHeader())));
      case STRING -> digest(in.readPayload(within(in.unpackRawStringHeader())));
      default -> throw new MalformedEventsException("a block's hash is none");
    };
  }

  private static long digest(byte[] hash) {
    return Hashing.wyhashFinal4().hashBytesToLong(hash);
  }

  private int[] tokens() throws IOException, MalformedEventsException {
    int count = arrayHeader();
    if (count > MOST_TOKENS - allTokens) {
      throw new MalformedEventsException("it tells of more tokens than any engine does at once");
    }
    allTokens += count;
    int[] tokens = new int[count];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = in.unpackInt();
    }
    return tokens;
  }

  /** Of each block, empty for one without further keys; several keys of one as one text. */
  private List<String> keys() throws IOException, MalformedEventsException {
    List<String> keys = new ArrayList<>();
    int count = arrayHeader();
    if (count > MOST_BLOCKS) {
      throw new MalformedEventsException("it has keys of more blocks than any engine has");
    }
    for (int i = 0; i < count; i++) {
      keys.add(in.tryUnpackNil() ? "" : key());
    }
    return keys;
  }

  private String key() throws IOException, MalformedEventsException {
    int count = arrayHeader();
    String only = "";
    for (int i = 0; i < count; i++) {
      if (count == 1 && in.getNextFormat().getValueType() == ValueType.STRING) {
        only = in.unpackString();
      } else {
        skip(0);
        only = "several, or no text";
      }
    }
    return only;
  }

  private boolean isMap() throws IOException {
    return in.hasNext() && in.getNextFormat().getValueType() == ValueType.MAP;
  }

  private boolean isInteger() throws IOException {
    return in.getNextFormat().getValueType() == ValueType.INTEGER;
  }

  private int arrayHeader() throws IOException, MalformedEventsException {
    return within(in.unpackArrayHeader());
  }

  private int mapHeader() throws IOException, MalformedEventsException {
    return within(in.unpackMapHeader());
  }

  /** No more of anything than there are bytes: else a few bytes would take all memory. */
  private int within(int claimed) throws MalformedEventsException {
    if (claimed > payload.length - offset - in.getTotalReadBytes()) {
      throw new MalformedEventsException("it ends before what it says is in it");
    }
    return claimed;
  }

  private void skip(int depth) throws IOException, MalformedEventsException {
    if (depth > DEEPEST) {
      throw new MalformedEventsException("it is nested too deep");
    }
    switch (in.getNextFormat().getValueType()) {
      case ARRAY -> {
        int count = arrayHeader();
        for (int i = 0; i < count; i++) {
          skip(depth + 1);
        }
      }
      case MAP -> {
        int count = mapHeader();
        for (int i = 0; i < 2 * count; i++) {
          skip(depth + 1);
        }
      }
      default -> in.skipValue();
    }
  }
}
