package io.fairlead.epp.frontend.gateway;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.core.EndpointSpec;
import io.fairlead.epp.tls.EndpointTls;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What the endpoints say that they serve. They are asked when somebody wants to know, all at once,
 * and not again for a while; one that doesn't answer counts with what it said before. The pool
 * hears nothing of it: a list of models is no request to one.
 *
 * <p>On one loop; the public way in is from any thread.
 */
final class ModelDirectory {

  private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final EventLoop loop;
  private final Class<? extends SocketChannel> channel;
  private final @Nullable EndpointTls tls;
  private final List<Consumer<List<ObjectNode>>> waiting = new ArrayList<>();
  private Map<InetSocketAddress, List<ObjectNode>> served = new LinkedHashMap<>();
  private int unanswered;
  private boolean stale = true;
  private long askedAt;

  ModelDirectory(
      EventLoop loop, Class<? extends SocketChannel> channel, @Nullable EndpointTls tls) {
    this.loop = loop;
    this.channel = channel;
    this.tls = tls;
  }

  /** Asks these endpoints from now on. */
  void retain(Collection<EndpointSpec> endpoints) {
    loop.execute(
        () -> {
          Map<InetSocketAddress, List<ObjectNode>> kept = new LinkedHashMap<>();
          for (EndpointSpec endpoint : endpoints) {
            InetSocketAddress address = new InetSocketAddress(endpoint.address(), endpoint.port());
            List<ObjectNode> known = served.get(address);
            stale |= known == null;
            kept.put(address, known == null ? List.of() : known);
          }
          served = kept;
        });
  }

  /** Tells {@code reader}, on the directory's loop, the entries of all endpoints. */
  void read(Consumer<List<ObjectNode>> reader) {
    loop.execute(
        () -> {
          waiting.add(reader);
          if (unanswered > 0) {
            return;
          }
          long now = loop.ticker().nanoTime();
          if (stale || now - askedAt >= FRESH_NANOS) {
            askedAt = now;
            stale = false;
            askAll();
          }
          if (unanswered == 0) {
            tell();
          }
        });
  }

  private void askAll() {
    List<InetSocketAddress> all = List.copyOf(served.keySet());
    unanswered = all.size();
    for (InetSocketAddress address : all) {
      new ModelQuestion(address, tls, list -> answered(address, list)).ask(loop, channel);
    }
  }

  private void answered(InetSocketAddress address, @Nullable List<ObjectNode> list) {
    if (list != null) {
      served.replace(address, list);
    }
    if (--unanswered == 0) {
      tell();
    }
  }

  private void tell() {
    List<ObjectNode> all = served.values().stream().flatMap(List::stream).toList();
    List<Consumer<List<ObjectNode>>> readers = List.copyOf(waiting);
    waiting.clear();
    readers.forEach(reader -> reader.accept(all));
  }
}
