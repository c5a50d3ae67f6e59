package io.fairlead.stub.server;

import io.fairlead.stub.engine.EngineRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/**
 * What has happened to an engine's KV cache since it was last told, as vLLM writes it: a batch of
 * events in msgpack.
 */
final class KvEventLog {

  private final KvEvents.Form form;
  private final int blockTokens;
  private MessageBufferPacker events = MessagePack.newDefaultBufferPacker();
  private int count;

  /** Blocks that went one after another are told together. */
  private long[] removed = new long[16];

  private int removedCount;

  KvEventLog(KvEvents.Form form, int blockTokens) {
    this.form = form;
    this.blockTokens = blockTokens;
  }

  void stored(EngineRequest request, int from, int to) {
    int[] tokens = request.tokens();
    if (tokens == null) {
      return;
    }
    writeRemoved();
    // What holds no text is told block by block, since each has its own key.
    int at = from;
    while (at < to) {
      int end = at;
      boolean media = isMedia(tokens, at);
      while (end < to && isMedia(tokens, end) == media) {
        end++;
      }
      stored(request, tokens, at, end, media);
      at = end;
    }
  }

  private boolean isMedia(int[] tokens, int block) {
    for (int i = block * blockTokens; i < (block + 1) * blockTokens; i++) {
      if (tokens[i] == BlockHasher.NO_TEXT) {
        return true;
      }
    }
    return false;
  }

  private void stored(EngineRequest request, int[] tokens, int from, int to, boolean media) {
    try {
      begin("BlockStored", media ? 8 : 7);
      field("block_hashes");
      events.packArrayHeader(to - from);
      for (int i = from; i < to; i++) {
        events.packLong(request.blocks()[i]);
      }
      field("parent_block_hash");
      if (from == 0) {
        events.packNil();
      } else {
        events.packLong(request.blocks()[from - 1]);
      }
      field("token_ids");
      events.packArrayHeader((to - from) * blockTokens);
      for (int i = from * blockTokens; i < to * blockTokens; i++) {
        events.packInt(Math.max(0, tokens[i]));
      }
      field("block_size");
      events.packInt(blockTokens);
      field("lora_id");
      events.packNil();
      field("medium");
      events.packString("GPU");
      field("lora_name");
      if (request.adapter().isEmpty()) {
        events.packNil();
      } else {
        events.packString(request.adapter());
      }
      if (media) {
        field("extra_keys");
        events.packArrayHeader(to - from);
        for (int i = from; i < to; i++) {
          events.packArrayHeader(1);
          events.packString("media-" + Long.toHexString(request.blocks()[i]));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e); // of a buffer in memory
    }
  }

  void removed(long block) {
    if (removedCount == removed.length) {
      removed = Arrays.copyOf(removed, removedCount * 2);
    }
    removed[removedCount++] = block;
  }

  private void writeRemoved() {
    if (removedCount == 0) {
      return;
    }
    try {
      begin("BlockRemoved", 2);
      field("block_hashes");
      events.packArrayHeader(removedCount);
      for (int i = 0; i < removedCount; i++) {
        events.packLong(removed[i]);
      }
      field("medium");
      events.packString("GPU");
    } catch (IOException e) {
      throw new UncheckedIOException(e); // of a buffer in memory
    }
    removedCount = 0;
  }

  void cleared() {
    writeRemoved();
    try {
      begin("AllBlocksCleared", 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // of a buffer in memory
    }
  }

  private void begin(String type, int fields) throws IOException {
    count++;
    if (form == KvEvents.Form.ARRAYS) {
      events.packArrayHeader(fields + 1);
      events.packString(type);
    } else {
      events.packMapHeader(fields + 1);
      events.packString("type");
      events.packString(type);
    }
  }

  private void field(String name) throws IOException {
    if (form == KvEvents.Form.MAPS) {
      events.packString(name);
    }
  }

  /** All so far as one batch, which is empty then; null if nothing has happened. */
  byte @Nullable [] take() {
    writeRemoved();
    if (count == 0) {
      return null;
    }
    try (MessageBufferPacker batch = MessagePack.newDefaultBufferPacker()) {
      if (form == KvEvents.Form.ARRAYS) {
        batch.packArrayHeader(3);
      } else {
        batch.packMapHeader(3);
        batch.packString("ts");
      }
      batch.packDouble(System.currentTimeMillis() / 1e3);
      if (form == KvEvents.Form.MAPS) {
        batch.packString("events");
      }
      batch.packArrayHeader(count);
      batch.writePayload(events.toByteArray());
      if (form == KvEvents.Form.MAPS) {
        batch.packString("data_parallel_rank");
      }
      batch.packInt(0);
      events = MessagePack.newDefaultBufferPacker();
      count = 0;
      return batch.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // of a buffer in memory
    }
  }
}
