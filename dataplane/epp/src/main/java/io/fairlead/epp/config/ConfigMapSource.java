package io.fairlead.epp.config;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.document.ConfigMapTexts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A config in one key of one ConfigMap, compressed or not, watched through the API: a mounted
 * volume would show a change up to a minute later.
 */
public final class ConfigMapSource implements ConfigSource {

  /** The key that holds the document; with {@code .gz} behind it when it is compressed. */
  public static final String KEY = "config.yaml";

  /** The key that holds the document that ran before, for pickers that can't run the newest. */
  public static final String LAST_GOOD_KEY = "last-good.yaml";

  private static final Logger LOG = LoggerFactory.getLogger(ConfigMapSource.class);

  private final KubernetesClient client;
  private final String namespace;
  private final String name;
  private final BiFunction<String, String, ConfigOffer> reader;
  private @Nullable SharedIndexInformer<ConfigMap> informer;
  private volatile boolean complained;

  /**
   * A source that is not watched yet; the client stays the caller's to close.
   *
   * @param reader makes an offer of origin and text
   */
  public ConfigMapSource(
      KubernetesClient client,
      String namespace,
      String name,
      BiFunction<String, String, ConfigOffer> reader) {
    this.client = client;
    this.namespace = namespace;
    this.name = name;
    this.reader = reader;
  }

  @Override
  public ConfigOffer read() {
    return offer(client.configMaps().inNamespace(namespace).withName(name).get());
  }

  @Override
  public void start(Consumer<ConfigOffer> sink) {
    SharedIndexInformer<ConfigMap> made =
        client.configMaps().inNamespace(namespace).withName(name).runnableInformer(0);
    informer = made;
    made.addEventHandler(
        new ResourceEventHandler<ConfigMap>() {
          @Override
          public void onAdd(ConfigMap map) {
            sink.accept(offer(map));
          }

          @Override
          public void onUpdate(ConfigMap before, ConfigMap map) {
            sink.accept(offer(map));
          }

          @Override
          public void onDelete(ConfigMap map, boolean unknown) {
            sink.accept(offer(null));
          }

          @Override
          public void onNothing() {
            sink.accept(offer(null));
          }
        });
    made.exceptionHandler(
        (started, failure) -> {
          if (!complained) {
            complained = true;
            LOG.warn("{}: can't be watched, trying again: {}", origin(), failure.toString());
          }
          return true;
        });
    var _ = made.start();
  }

  @Override
  public void close() {
    if (informer != null) {
      informer.stop();
    }
  }

  private ConfigOffer offer(@Nullable ConfigMap map) {
    complained = false;
    if (map == null) {
      return new ConfigOffer.Unreadable(
          origin(), "absent", origin() + ": does not exist; it is read as soon as it does");
    }
    ConfigOffer newest = document(map, origin(), KEY);
    if (newest == null) {
      newest =
          new ConfigOffer.Unreadable(
              origin(), "no key", origin() + ": has no key " + KEY + "; put the document there");
    }
    newest =
        switch (newest) {
          case ConfigOffer.Unreadable unreadable -> unreadable.of(annotated(map));
          // Models and endpoints come from others than the scheduling, and need not wait for it.
          case ConfigOffer.Document document -> document.inParts();
        };
    ConfigOffer before = document(map, origin() + ", key " + LAST_GOOD_KEY, LAST_GOOD_KEY);
    return before == null ? newest : newest.withLastGood(before);
  }

  /** Null when the key is not there, compressed or not. */
  private @Nullable ConfigOffer document(ConfigMap map, String place, String key) {
    try {
      String text = ConfigMapTexts.read(map, key);
      return text == null ? null : document(place, text);
    } catch (IOException e) {
      return new ConfigOffer.Unreadable(
          place, "not uncompressed", place + ": cannot be uncompressed: " + e.getMessage());
    }
  }

  private ConfigOffer document(String place, String text) {
    return ConfigReaders.guarded(place, hash(text), () -> reader.apply(place, text));
  }

  /** Which config the operator says is there, also where the document can't be read. */
  private static @Nullable ConfigHash annotated(ConfigMap map) {
    Map<String, String> annotations = map.getMetadata().getAnnotations();
    return annotations == null
        ? null
        : ConfigHash.parse(annotations.get(ConfigHash.ANNOTATION)).orElse(null);
  }

  private String origin() {
    return "ConfigMap " + namespace + "/" + name;
  }

  /** Content hash of a text. */
  public static String hash(String text) {
    byte[] digest = FileState.sha256().digest(text.getBytes(StandardCharsets.UTF_8));
    return HexFormat.of().formatHex(digest, 0, 16);
  }
}
