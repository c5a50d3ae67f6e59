package io.fairlead.epp.kvevents;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * What an engine says of its cache, word by word as a test wants it: also that it is asked for a
 * replay and does not answer. On the test's thread only.
 */
final class ScriptedEngine implements AutoCloseable {

  private static final String TOPIC = "kv@pod@m";

  /** What it is not done with sending then it drops, as any engine does. */
  private static final int REPLAY_HIGH_WATER = 512;

  private final ZContext context = new ZContext();
  private final ZMQ.Socket publisher = context.createSocket(SocketType.XPUB);
  private final ZMQ.Socket replay = context.createSocket(SocketType.ROUTER);
  private final int port;
  private final int replayPort;
  private final int grain;
  private boolean heard;
  private byte @Nullable [] asking;
  private long askedFrom;

  /**
   * @param host address to listen on
   * @param port where to publish; 0 for a free one
   * @param replayPort where it is asked for a replay; 0 for a free one
   * @param grain tokens of a block
   */
  ScriptedEngine(String host, int port, int replayPort, int grain) {
    publisher.setLinger(0);
    replay.setLinger(0);
    replay.setSndHWM(REPLAY_HIGH_WATER);
    this.port = bind(publisher, host, port);
    this.replayPort = bind(replay, host, replayPort);
    this.grain = grain;
  }

  /** That many, each at an address of its own, all at the same two ports. */
  static List<ScriptedEngine> several(int many, IntFunction<String> host, int grain) {
    List<ScriptedEngine> engines = new ArrayList<>();
    for (int i = 0; i < many; i++) {
      engines.add(
          i == 0
              ? new ScriptedEngine(host.apply(i), 0, 0, grain)
              : new ScriptedEngine(
                  host.apply(i),
                  engines.getFirst().port(),
                  engines.getFirst().replayPort(),
                  grain));
    }
    return engines;
  }

  private static int bind(ZMQ.Socket socket, String host, int port) {
    String address = "tcp://" + host;
    if (port == 0) {
      return socket.bindToRandomPort(address);
    }
    socket.bind(address + ":" + port);
    return port;
  }

  int port() {
    return port;
  }

  int replayPort() {
    return replayPort;
  }

  /** Tells that it has stored so many blocks. */
  void stored(long number, int blocks) throws IOException {
    publishes(TOPIC, number, storedMessage(blocks, grain));
  }

  /** Tells that its cache is empty. */
  void cleared(long number) throws IOException {
    publishes(TOPIC, number, clearedMessage());
  }

  /** Publishes whatever it is. */
  void publishes(String topic, long number, byte[] payload) {
    publisher.sendMore(topic);
    publisher.sendMore(number(number));
    publisher.send(payload);
  }

  /** Whether somebody gets what it publishes: before that it is lost. */
  boolean isHeard() {
    byte[] said = publisher.recv(ZMQ.DONTWAIT);
    heard |= said != null && said.length > 0 && said[0] == 1;
    return heard;
  }

  /** Whether it has been asked for a replay since it answered the last one. */
  boolean isAsked() {
    if (asking == null) {
      asking = replay.recv(ZMQ.DONTWAIT);
      while (asking != null && replay.hasReceiveMore()) {
        byte[] part = replay.recv();
        askedFrom = part.length == Long.BYTES ? ByteBuffer.wrap(part).getLong() : askedFrom;
      }
    }
    return asking != null;
  }

  /** Answers with one message of before, which told of so many blocks; of none if that is 0. */
  void replays(int blocks) throws IOException {
    byte[] client = Objects.requireNonNull(asking);
    asking = null;
    if (blocks > 0) {
      answer(client, 0, storedMessage(blocks, grain));
    }
    answer(client, -1, new byte[0]);
  }

  /**
   * Answers with as many of its messages of before as it can send, all of them alike: never with
   * all, however fast they are read.
   */
  void replays(int messages, byte[] payload) {
    byte[] client = Objects.requireNonNull(asking);
    asking = null;
    for (long number = askedFrom; number < messages; number++) {
      if (number != askedFrom + REPLAY_HIGH_WATER) {
        answer(client, number, payload);
      }
    }
    answer(client, -1, new byte[0]);
  }

  private void answer(byte[] client, long number, byte[] payload) {
    replay.sendMore(client);
    replay.sendMore(new byte[0]);
    replay.sendMore(number(number));
    replay.send(payload);
  }

  private static byte[] number(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  /** A message that tells of so many blocks. */
  static byte[] storedMessage(int blocks, int grain) throws IOException {
    try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
      out.packArrayHeader(2).packDouble(1).packArrayHeader(1).packArrayHeader(5);
      out.packString("BlockStored").packArrayHeader(blocks);
      for (int i = 0; i < blocks; i++) {
        out.packLong(i + 1);
      }
      out.packNil().packArrayHeader(blocks * grain);
      for (int i = 0; i < blocks * grain; i++) {
        out.packInt(i);
      }
      out.packInt(grain);
      return out.toByteArray();
    }
  }

  /** A message that tells that the engine's cache is empty. */
  static byte[] clearedMessage() throws IOException {
    try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
      out.packArrayHeader(2).packDouble(1).packArrayHeader(1).packArrayHeader(1);
      out.packString("AllBlocksCleared");
      return out.toByteArray();
    }
  }

  @Override
  public void close() {
    context.close();
  }
}
