package io.fairlead.epp;

import io.fairlead.epp.kvevents.EventResult;
import io.fairlead.epp.kvevents.KvEventListener;
import io.fairlead.epp.kvevents.KvEventReader;
import io.fairlead.epp.tokens.PromptTokenizers;
import io.fairlead.epp.tokens.TokenizerResult;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.ToIntFunction;

/** Meters of what engines tell of their caches, and of what that is compared with. */
final class KvEventMeters {

  private KvEventMeters() {}

  static void register(
      MeterRegistry registry, KvEventListener listener, PromptTokenizers tokenizers) {
    for (EventResult result : EventResult.values()) {
      FunctionCounter.builder("fairlead.kv.events", listener, l -> (double) l.counts().of(result))
          .description("Messages of engines about their KV caches, by what became of them.")
          .tag("result", result.label())
          .register(registry);
    }
    for (TokenizerResult result : TokenizerResult.values()) {
      FunctionCounter.builder(
              "fairlead.prompt.tokenizations", tokenizers, t -> (double) t.of(result))
          .description("Prompts given to their models' own tokenizers, by what came of it.")
          .tag("result", result.label())
          .register(registry);
    }
    Gauge.builder("fairlead.prompt.tokenizers.open", tokenizers, PromptTokenizers::open)
        .description(
            "Models' own tokenizers in use: fewer than the config names while one is being"
                + " opened, or can't be.")
        .register(registry);
    FunctionCounter.builder(
            "fairlead.prompt.tokenization.seconds", tokenizers, PromptTokenizers::seconds)
        .description("Time that tokenizers have worked on prompts.")
        .register(registry);
    endpoints(registry, listener, "whole", KvEventReader.State::whole);
    endpoints(registry, listener, "partial", KvEventReader.State::partial);
    endpoints(registry, listener, "no_room", KvEventReader.State::noRoom);
    endpoints(registry, listener, "silent", KvEventReader.State::silent);
  }

  private static void endpoints(
      MeterRegistry registry,
      KvEventListener listener,
      String known,
      ToIntFunction<KvEventReader.State> count) {
    Gauge.builder("fairlead.kv.events.endpoints", listener, l -> count.applyAsInt(l.state()))
        .description(
            "Endpoints by what is known of their caches: whole, all that their engines hold;"
                + " partial, what they told since the picker came; no_room, nothing, for want of"
                + " memory; silent, they have told nothing.")
        .tag("known", known)
        .register(registry);
  }
}
