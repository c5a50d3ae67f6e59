package io.fairlead.operator.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.FieldsV1;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntryBuilder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LeanStoreTest {
  @Test
  void onlyFieldsThatSomebodyAsksForAreKept() {
    LeanStore<ConfigMap> store = new LeanStore<>();
    ConfigMap map =
        new ConfigMapBuilder()
            .withNewMetadata()
            .withNamespace("a")
            .withName("b")
            .withManagedFields(
                fields("kubectl", null),
                fields("fairlead-epp", null),
                fields("fairlead-status", "status"),
                fields("another", "status"))
            .endMetadata()
            .addToData("key", "value")
            .build();

    assertThat(store.put(store.getKey(map), map)).isNull();

    ConfigMap held = store.get("a/b");
    assertThat(held.getData()).containsEntry("key", "value");
    assertThat(held.getMetadata().getManagedFields())
        .extracting(ManagedFieldsEntry::getManager)
        .containsExactly("kubectl", "fairlead-epp", "fairlead-status", "another");
    assertThat(held.getMetadata().getManagedFields())
        .filteredOn(fields -> fields.getFieldsV1() != null)
        .extracting(ManagedFieldsEntry::getManager)
        .containsExactly("fairlead-epp", "another");
  }

  @Test
  void whatKubectlNotesForItselfIsNotKept() {
    LeanStore<ConfigMap> store = new LeanStore<>();
    ConfigMap map =
        new ConfigMapBuilder()
            .withNewMetadata()
            .withNamespace("a")
            .withName("b")
            .addToAnnotations("kubectl.kubernetes.io/last-applied-configuration", "{}")
            .addToAnnotations("example.test/other", "stays")
            .endMetadata()
            .build();
    store.put("a/b", map);
    assertThat(map.getMetadata().getAnnotations())
        .containsExactly(entry("example.test/other", "stays"));
  }

  /** Children of one kind differ in it by their owner alone, and it is most of what is held. */
  @Test
  void whatIsTheSameInManyObjectsIsKeptOnce() {
    LeanStore<ConfigMap> store = new LeanStore<>();
    Map<String, Object> one = applied(store, "one");
    Map<String, Object> two = applied(store, "two");

    assertThat(one).isEqualTo(fieldsOf("one"));
    assertThat(two).isEqualTo(fieldsOf("two"));
    assertThat(one.get("f:data")).isSameAs(two.get("f:data"));
  }

  private static Map<String, Object> applied(LeanStore<ConfigMap> store, String owner) {
    ManagedFieldsEntry ours = fields("fairlead", null);
    ours.getFieldsV1().setAdditionalProperties(fieldsOf(owner));
    ConfigMap map =
        new ConfigMapBuilder()
            .withNewMetadata()
            .withNamespace("a")
            .withName(owner)
            .withManagedFields(ours)
            .endMetadata()
            .build();
    store.put("a/" + owner, map);
    // As of an object that is taken in again.
    store.put("a/" + owner, map);
    return map.getMetadata().getManagedFields().getFirst().getFieldsV1().getAdditionalProperties();
  }

  private static Map<String, Object> fieldsOf(String owner) {
    Map<String, Object> fields = new HashMap<>();
    fields.put("f:data", new HashMap<>(Map.of("f:config", new HashMap<>())));
    fields.put(
        "f:metadata",
        new HashMap<>(Map.of("f:ownerReferences", new HashMap<>(Map.of("k:" + owner, Map.of())))));
    return fields;
  }

  @Test
  void anObjectIsFoundByWhatItSaysNow() {
    LeanStore<ConfigMap> store = new LeanStore<>(map -> map.getData().get("of"));
    put(store, "one", "a");
    put(store, "two", "a");
    put(store, "none", null);
    assertThat(names(store, "a")).containsExactlyInAnyOrder("one", "two");

    put(store, "one", "b");
    assertThat(names(store, "a")).containsExactly("two");
    assertThat(names(store, "b")).containsExactly("one");

    put(store, "one", null);
    assertThat(store.remove("n/two")).isNotNull();
    assertThat(store.remove("n/two")).isNull();
    assertThat(names(store, "a")).isEmpty();
    assertThat(names(store, "b")).isEmpty();
    assertThat(store.get("n/one")).isNotNull();
  }

  /** Also while others that are found by the same come and go. */
  @Test
  void anObjectThatChangesIsMissingAtNoMoment() throws InterruptedException {
    LeanStore<ConfigMap> store = new LeanStore<>(map -> map.getData().get("of"));
    put(store, "there", "a");
    AtomicBoolean ended = new AtomicBoolean();
    Thread changes =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (int i = 0; i < 20_000; i++) {
                    put(store, "there", "a");
                    put(store, "another", i % 2 == 0 ? "a" : "b");
                    if (i % 3 == 0) {
                      var _ = store.remove("n/another");
                    }
                  }
                  ended.set(true);
                });
    int missed = 0;
    while (!ended.get()) {
      missed += names(store, "a").contains("there") ? 0 : 1;
    }
    changes.join();
    assertThat(missed).isZero();
    assertThat(names(store, "a")).containsOnlyOnce("there");
  }

  private static List<String> names(LeanStore<ConfigMap> store, String of) {
    return store.find(of).map(map -> map.getMetadata().getName()).toList();
  }

  private static void put(LeanStore<ConfigMap> store, String name, @Nullable String of) {
    ConfigMap map =
        new ConfigMapBuilder()
            .withNewMetadata()
            .withNamespace("n")
            .withName(name)
            .endMetadata()
            .withData(of == null ? Map.of() : Map.of("of", of))
            .build();
    var _ = store.put(store.getKey(map), map);
  }

  private static ManagedFieldsEntry fields(String manager, @Nullable String part) {
    return new ManagedFieldsEntryBuilder()
        .withManager(manager)
        .withSubresource(part)
        .withFieldsV1(new FieldsV1())
        .build();
  }
}
