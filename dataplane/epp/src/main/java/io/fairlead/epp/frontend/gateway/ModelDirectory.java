package io.fairlead.epp.frontend.gateway;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.core.EndpointSpec;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.epp.openai.ModelList;
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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What clients may ask for: what is configured, and what the endpoints say that they serve. They
 * are asked when somebody wants to know, all at once, and not again for a while; one that doesn't
 * answer counts with what it said before. The pool hears nothing of it: a list of models is no
 * request to one.
 *
 * <p>On one loop; the public way in is from any thread.
 */
final class ModelDirectory {

  private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final EventLoop loop;
  private final Class<? extends SocketChannel> channel;
  private final @Nullable EndpointTls tls;
  private final Supplier<List<ModelConfig>> configured;
  private final List<Consumer<ModelList>> waiting = new ArrayList<>();
  private Map<InetSocketAddress, List<ObjectNode>> served = new LinkedHashMap<>();
  private int unanswered;
  private boolean stale = true;
  private long askedAt;

  /** What was told last, until an endpoint says something else. */
  private @Nullable ModelList union;

  private List<ModelConfig> configuredThen = List.of();

  /**
   * Knows of no endpoint yet.
   *
   * @param configured models that clients may ask for besides; asked on {@code loop}
   */
  ModelDirectory(
      EventLoop loop,
      Class<? extends SocketChannel> channel,
      @Nullable EndpointTls tls,
      Supplier<List<ModelConfig>> configured) {
    this.loop = loop;
    this.channel = channel;
    this.tls = tls;
    this.configured = configured;
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
          union = null;
        });
  }

  /** Tells {@code reader}, on the directory's loop, the models of all endpoints and the config. */
  void read(Consumer<ModelList> reader) {
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
      union = null;
    }
    if (--unanswered == 0) {
      tell();
    }
  }

  private void tell() {
    ModelList all = union();
    List<Consumer<ModelList>> readers = List.copyOf(waiting);
    waiting.clear();
    readers.forEach(reader -> reader.accept(all));
  }

  private ModelList union() {
    List<ModelConfig> now = configured.get();
    ModelList known = union;
    if (known == null || !configuredThen.equals(now)) {
      known = new ModelList(now, served.values().stream().flatMap(List::stream).toList());
      union = known;
      configuredThen = now;
    }
    return known;
  }
}
