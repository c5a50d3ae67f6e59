package io.fairlead.epp.external;

import io.fairlead.core.PoolCore;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.external.EndpointLoad;
import io.fairlead.core.external.RequestBrief;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A core that a test owns. */
record CoreView(PoolCore core) implements PoolView {

  @Override
  public @Nullable RequestBrief brief(long now, RequestFacts facts) {
    return core.brief(now, facts);
  }

  @Override
  public long loads(long since, Consumer<EndpointLoad> to) {
    return core.loads(since, to);
  }

  @Override
  public @Nullable EndpointLoad load(String name) {
    return core.load(name);
  }
}
