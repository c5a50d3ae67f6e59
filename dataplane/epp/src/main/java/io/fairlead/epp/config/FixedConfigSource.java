package io.fairlead.epp.config;

import java.util.function.Consumer;

/**
 * A config that never changes.
 *
 * @param offer all that there is to say
 */
public record FixedConfigSource(ConfigOffer offer) implements ConfigSource {

  @Override
  public void start(Consumer<ConfigOffer> sink) {
    sink.accept(offer);
  }

  @Override
  public ConfigOffer read() {
    return offer;
  }

  @Override
  public void close() {}
}
