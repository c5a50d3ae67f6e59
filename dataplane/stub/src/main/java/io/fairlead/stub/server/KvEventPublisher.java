package io.fairlead.stub.server;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Publishes batches of KV events over ZeroMQ as vLLM does: each is a message of topic, number and
 * payload. Who has missed some asks for a replay from a number on, and gets those that are still
 * kept, and an end. On a thread of its own, as its sockets must be.
 */
final class KvEventPublisher implements AutoCloseable {

  private static final byte[] END = number(-1);
  private static final int HIGH_WATER = 100_000;
  private static final long POLL_MILLIS = 20;

  private final byte[] topic;
  private final int bufferSteps;
  private final ZContext context = new ZContext();
  private final ZMQ.Socket publisher = context.createSocket(SocketType.PUB);
  private final ZMQ.Socket replay = context.createSocket(SocketType.ROUTER);
  private final int port;
  private final int replayPort;

  /** What is to be done on the thread, in order. */
  private final LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

  private final ArrayDeque<Sent> kept = new ArrayDeque<>();
  private long next;
  private volatile boolean closed;
  private final Thread thread;

  @SuppressWarnings("ArrayRecordComponent") // kept, not compared
  private record Sent(long number, byte[] payload) {}

  /**
   * Listens.
   *
   * @throws org.zeromq.ZMQException if a port can't be listened on
   */
  KvEventPublisher(String host, KvEvents config, String topic) {
    this.topic = topic.getBytes(StandardCharsets.UTF_8);
    bufferSteps = config.bufferSteps();
    publisher.setSndHWM(HIGH_WATER);
    publisher.setLinger(0);
    replay.setSndHWM(HIGH_WATER);
    replay.setLinger(0);
    port = bind(publisher, host, config.port());
    replayPort = config.replayPort() < 0 ? -1 : bind(replay, host, config.replayPort());
    thread = Thread.ofPlatform().daemon().name("stub-kv-events").start(this::run);
  }

  private static int bind(ZMQ.Socket socket, String host, int port) {
    String address = "tcp://" + (host.contains(":") ? "[" + host + "]" : host) + ":";
    if (port == 0) {
      return socket.bindToRandomPort(address.substring(0, address.length() - 1));
    }
    socket.bind(address + port);
    return port;
  }

  int port() {
    return port;
  }

  int replayPort() {
    return replayPort;
  }

  /**
   * Publishes a batch. Any thread.
   *
   * @param lost whether it gets lost on its way
   */
  void publish(byte[] payload, boolean lost) {
    tasks.add(
        () -> {
          Sent sent = new Sent(next++, payload);
          if (!lost) {
            publisher.sendMore(topic);
            publisher.sendMore(number(sent.number));
            publisher.send(payload);
          }
          kept.add(sent);
          if (kept.size() > bufferSteps) {
            kept.remove();
          }
        });
  }

  /** Another process takes its place: it counts from the beginning, and has nothing to replay. */
  void restart() {
    tasks.add(
        () -> {
          next = 0;
          kept.clear();
        });
  }

  private void run() {
    try {
      while (!closed) {
        Runnable task = tasks.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
        if (task != null) {
          task.run();
        }
        answer();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      context.close();
    }
  }

  private void answer() {
    byte[] client = replay.recv(ZMQ.DONTWAIT);
    if (client == null) {
      return;
    }
    byte[] delimiter = replay.hasReceiveMore() ? replay.recv() : new byte[1];
    byte[] from = replay.hasReceiveMore() ? replay.recv() : new byte[0];
    boolean more = replay.hasReceiveMore();
    while (replay.hasReceiveMore()) {
      replay.recv();
    }
    if (delimiter.length > 0 || from.length != Long.BYTES || more) {
      return; // vLLM logs such a question and goes on
    }
    long start = ByteBuffer.wrap(from).getLong();
    for (Sent each : kept) {
      if (each.number >= start) {
        send(client, number(each.number), each.payload);
      }
    }
    send(client, END, new byte[0]);
  }

  private void send(byte[] client, byte[] number, byte[] payload) {
    replay.sendMore(client);
    replay.sendMore(new byte[0]);
    replay.sendMore(number);
    replay.send(payload);
  }

  private static byte[] number(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  @Override
  public void close() {
    closed = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
