package io.fairlead.core.plugins.disagg;

import io.fairlead.core.view.Memo;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.EndpointAttributes;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.List;
import java.util.function.Predicate;

/**
 * Keeps endpoints whose role includes a stage; for decoding also those without a role. Not needed
 * beside {@code disagg-profile-handler}, which sees to it by itself.
 */
final class RoleFilter implements Filter {

  private final Memo<EndpointAttributes, Boolean> wanted;

  RoleFilter(Predicate<Role> wanted) {
    this.wanted = Memo.ofAttributes(attributes -> wanted.test(Role.of(attributes)));
  }

  @Override
  public void filter(InferenceRequest request, Candidates candidates, boolean[] keep) {
    int size = candidates.size();
    for (int i = 0; i < size; i++) {
      keep[i] = wanted.of(candidates.get(i));
    }
  }

  static final class Factory implements PluginFactory {

    private final String type;
    private final Predicate<Role> wanted;

    private Factory(String type, Predicate<Role> wanted) {
      this.type = type;
      this.wanted = wanted;
    }

    /** One for each stage. */
    static List<PluginFactory> all() {
      return List.of(
          new Factory("decode-filter", Role::decodes),
          new Factory("prefill-filter", Role::prefills));
    }

    @Override
    public String type() {
      return type;
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new RoleFilter(wanted);
    }
  }
}
