package io.fairlead.operator.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fairlead.crds.v1.InferencePool;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class KnownPoolsTest {
  private final KnownPools known = new KnownPools();

  @Test
  void aPoolThatTookAnothersNameTellsThatThatOneIsGone() {
    assertThat(known.seen(pool("ns", "first"))).isEqualTo(seen(true, null));
    assertThat(known.seen(pool("other", "elsewhere"))).isEqualTo(seen(true, null));
    assertThat(known.seen(pool("ns", "first"))).isEqualTo(seen(false, null));
    assertThat(known.seen(pool("ns", "second"))).isEqualTo(seen(true, "first"));
    assertThat(known.seen(pool("ns", "second"))).isEqualTo(seen(false, null));
  }

  @Test
  void aDeletionThatIsHeardOfLateIsOfTheOldOneAlone() {
    var _ = known.seen(pool("ns", "first"));
    var _ = known.seen(pool("ns", "second"));
    known.gone(pool("ns", "first"));
    assertThat(known.seen(pool("ns", "third"))).isEqualTo(seen(true, "second"));
    known.gone(pool("ns", "third"));
    assertThat(known.seen(pool("ns", "fourth"))).isEqualTo(seen(true, null));
  }

  private static KnownPools.Seen seen(boolean isNew, @Nullable String another) {
    return new KnownPools.Seen(isNew, Optional.ofNullable(another));
  }

  private static InferencePool pool(String namespace, String uid) {
    InferencePool pool = new InferencePool();
    pool.setMetadata(
        new ObjectMetaBuilder().withNamespace(namespace).withName("pool").withUid(uid).build());
    return pool;
  }
}
