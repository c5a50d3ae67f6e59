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
  private final String stage;

  RoleFilter(Predicate<Role> wanted, String stage) {
    this.wanted = Memo.ofAttributes(attributes -> wanted.test(Role.of(attributes)));
    this.stage = stage;
  }

  @Override
  public void filter(InferenceRequest request, Candidates candidates, boolean[] keep) {
    int size = candidates.size();
    for (int i = 0; i < size; i++) {
      keep[i] = wanted.of(candidates.get(i));
    }
  }

  @Override
  public String keeps() {
    return "endpoints whose role includes " + stage;
  }

  static final class Factory implements PluginFactory {

    private final String type;
    private final Predicate<Role> wanted;
    private final String stage;

    private Factory(String type, Predicate<Role> wanted, String stage) {
      this.type = type;
      this.wanted = wanted;
      this.stage = stage;
    }

    /** One for each stage. */
    static List<PluginFactory> all() {
      return List.of(
          new Factory("decode-filter", Role::decodes, "decoding"),
          new Factory("prefill-filter", Role::prefills, "prompts"));
    }

    @Override
    public String type() {
      return type;
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new RoleFilter(wanted, stage);
    }
  }
}
