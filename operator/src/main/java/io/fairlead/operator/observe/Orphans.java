package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fairlead.crds.v1.InferencePool;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.AbstractEventSource;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Objects of a kind that name no pool that is there, which no look at a pool tells. Every change
 * has them told, status included, so that whichever wrote last on stale knowledge is put right. It
 * wakes no pool; the framework starts and ends it with what it listens to.
 *
 * @param <R> kind that names pools
 */
final class Orphans<R extends HasMetadata> extends AbstractEventSource<R, InferencePool> {
  private static final Duration FAILED = Duration.ofSeconds(1);

  private final OrphanLooks<ResourceID, R> looks;

  /**
   * Looks at none before something happens.
   *
   * @param objects all that there are
   * @param pool the name of the one that an object names; null when it names none
   * @param pools that there are, of either group
   * @param tell each that names none that is seen, as {@link Orphaned} does
   */
  Orphans(
      Watched<R, InferencePool> objects,
      Function<R, @Nullable String> pool,
      Pools pools,
      BiFunction<R, BooleanSupplier, Optional<Duration>> tell) {
    super(objects.resourceType(), "orphans-" + objects.name());
    looks = new OrphanLooks<>(ResourceID::fromResource, objects::get, pool, pools, tell, FAILED);
    objects.listen(looks::changed);
    pools.listen(
        id ->
            objects.find(id.getNamespace().orElse(null), id.getName()).forEach(looks::poolChanged));
  }

  @Override
  public void stop() {
    looks.close();
    super.stop();
  }

  @Override
  public Set<R> getSecondaryResources(InferencePool any) {
    return Set.of();
  }
}
