package io.fairlead.epp.kvevents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.core.prefix.CacheEvent;
import io.fairlead.core.prefix.CacheEvent.Cleared;
import io.fairlead.core.prefix.CacheEvent.Removed;
import io.fairlead.core.prefix.CacheEvent.Stored;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePacker;

/** The messages in {@code *.msgpack} are of another encoder: {@code golden.py} makes them. */
class EventDecoderTest {

  @ParameterizedTest
  @ValueSource(strings = {"vllm-arrays", "vllm-maps"})
  void vllmsEventsOfItsOwnMemoryAreReadInBothForms(String golden) throws Exception {
    EventBatch batch = EventDecoder.decode(golden(golden));

    assertThat(batch.timestamp()).isEqualTo(1_700_000_000.5);
    List<CacheEvent> events = batch.events();
    assertThat(events).hasSize(4);
    Stored first = (Stored) events.getFirst();
    assertThat(first.blocks()).containsExactly(-1, 7);
    assertThat(first.hasParent()).isFalse();
    assertThat(first.tokens()).containsExactly(100, 101, 102, 103, 104, 105, 106, 107);
    assertThat(first.blockTokens()).isEqualTo(4);
    assertThat(first.adapter()).isEmpty();
    assertThat(first.alien()).isFalse();
    Stored second = (Stored) events.get(1);
    assertThat(second.hasParent()).isTrue();
    assertThat(second.parent()).isEqualTo(7);
    assertThat(second.adapter()).isEqualTo("french");
    assertThat(second.alien()).as("an adapter's own name is no further content").isFalse();
    assertThat(((Removed) events.get(2)).blocks()).containsExactly(-1);
    assertThat(events.get(3)).isEqualTo(new Cleared());
    assertThat(batch.ignored()).as("on the CPU twice, another group, an unknown kind").isEqualTo(4);
  }

  @ParameterizedTest
  @ValueSource(strings = {"vllm-bytes-arrays", "vllm-bytes-maps"})
  void hashesMayBeBytesAndAnImagesBlockIsAlienWithWhatFollows(String golden) throws Exception {
    EventBatch batch = EventDecoder.decode(golden(golden));

    Stored plain = (Stored) batch.events().getFirst();
    Stored alien = (Stored) batch.events().get(1);
    assertThat(plain.blocks()).hasSize(1);
    assertThat(plain.alien()).isFalse();
    assertThat(alien.blocks()).hasSize(2).doesNotContain(plain.blocks());
    assertThat(alien.alien()).isTrue();
    assertThat(alien.parent()).isEqualTo(plain.blocks()[0]);
    assertThat(alien.tokens()).containsExactly(4, 5, 6, 7, 8, 9, 10, 11);
    assertThat(((Removed) batch.events().get(2)).blocks()).containsExactly(alien.blocks()[0]);
  }

  @Test
  void sglangsSignedHashesAndPagesAreRead() throws Exception {
    EventBatch batch = EventDecoder.decode(golden("sglang"));

    Stored stored = (Stored) batch.events().getFirst();
    assertThat(stored.blocks()).containsExactly(-5);
    assertThat(stored.parent()).isEqualTo(-6);
    assertThat(stored.blockTokens()).isEqualTo(1);
    assertThat(batch.events().subList(1, 3)).last().isEqualTo(new Cleared());
  }

  @ParameterizedTest
  @ValueSource(strings = {"vllm-arrays", "vllm-maps", "vllm-bytes-maps", "sglang"})
  void aMessageThatIsCutOffIsRefusedWhereverThatIs(String golden) throws Exception {
    byte[] whole = golden(golden);
    for (int length = 0; length < whole.length - 1; length++) {
      byte[] cut = java.util.Arrays.copyOf(whole, length);
      try {
        // What is left may be whole of itself, where only fields of the batch are missing.
        assertThat(EventDecoder.decode(cut).events()).isNotEmpty();
        assertThat(length).isGreaterThan(whole.length - 25);
      } catch (MalformedEventsException e) {
        assertThat(e).hasMessageNotContainingAny("BlockStored", "french");
      }
    }
  }

  @Test
  void tokensThatAreNotThoseOfTheBlocksAreRefused() {
    assertThatThrownBy(() -> EventDecoder.decode(stored(2, 16, 31)))
        .isInstanceOf(MalformedEventsException.class);
    assertThatThrownBy(() -> EventDecoder.decode(stored(1, 0, 0)))
        .isInstanceOf(MalformedEventsException.class);
  }

  @Test
  void aClaimOfMoreThanThereIsTakesNoMemory() {
    byte[] claim = {(byte) 0xdd, 0x7f, -1, -1, -1};
    assertThatThrownBy(() -> EventDecoder.decode(claim))
        .isInstanceOf(MalformedEventsException.class);
  }

  /** Each takes one byte in the message, and eight of the heap. */
  @Test
  void moreBlocksThanAnEngineHasAreRefused() throws Exception {
    int half = EventDecoder.MOST_BLOCKS / 2;
    assertThat(EventDecoder.decode(removed(half, half)).events()).hasSize(2);
    assertThatThrownBy(() -> EventDecoder.decode(removed(half, half + 1)))
        .isInstanceOf(MalformedEventsException.class);
  }

  /** Each takes one byte in the message, and four of the heap. */
  @Test
  void moreTokensThanAnEngineTellsAtOnceAreRefused() throws Exception {
    int half = EventDecoder.MOST_TOKENS / 2;
    List<CacheEvent> events = EventDecoder.decode(storedOneByOne(half, half)).events();
    assertThat(events).hasSize(2);
    assertThat(((Stored) events.getLast()).tokens()).hasSize(half);
    assertThatThrownBy(() -> EventDecoder.decode(storedOneByOne(half, half, 1)))
        .isInstanceOf(MalformedEventsException.class)
        .hasMessageContaining("tokens");
  }

  /** Events of one block each, with so many tokens. */
  private static byte[] storedOneByOne(int... tokens) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (MessagePacker out = MessagePack.newDefaultPacker(bytes)) {
      out.packArrayHeader(2).packDouble(1).packArrayHeader(tokens.length);
      for (int many : tokens) {
        out.packArrayHeader(5).packString("BlockStored").packArrayHeader(1).packInt(7);
        out.packNil().packArrayHeader(many);
        for (int i = 0; i < many; i++) {
          out.packInt(1);
        }
        out.packInt(many);
      }
    }
    return bytes.toByteArray();
  }

  private static byte[] removed(int... blocks) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (MessagePacker out = MessagePack.newDefaultPacker(bytes)) {
      out.packArrayHeader(2).packDouble(1).packArrayHeader(blocks.length);
      for (int many : blocks) {
        out.packArrayHeader(2).packString("BlockRemoved").packArrayHeader(many);
        for (int i = 0; i < many; i++) {
          out.packInt(7);
        }
      }
    }
    return bytes.toByteArray();
  }

  private static byte[] stored(int blocks, int blockTokens, int tokens) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (MessagePacker out = MessagePack.newDefaultPacker(bytes)) {
      out.packArrayHeader(2).packDouble(1).packArrayHeader(1).packArrayHeader(5);
      out.packString("BlockStored").packArrayHeader(blocks);
      for (int i = 0; i < blocks; i++) {
        out.packInt(i);
      }
      out.packNil().packArrayHeader(tokens);
      for (int i = 0; i < tokens; i++) {
        out.packInt(i);
      }
      out.packInt(blockTokens);
    }
    return bytes.toByteArray();
  }

  static byte[] golden(String name) throws Exception {
    try (InputStream in = EventDecoderTest.class.getResourceAsStream(name + ".msgpack")) {
      return Objects.requireNonNull(in, name).readAllBytes();
    }
  }
}
