package io.fairlead.core.plugins;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.plugin.InvalidParameterException;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.Map;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.Assertions;

/** Makes plugins of registered types from settings, as a config document does. */
public final class Settings {

  private Settings() {}

  public static PluginFactory factory(String type) {
    return BuiltInPlugins.factories().stream()
        .filter(factory -> factory.type().equals(type))
        .findFirst()
        .orElseThrow(() -> new AssertionError(type + " is not registered"));
  }

  /** A plugin with these settings, all of which it must know. */
  public static <P extends Plugin> P make(
      Class<P> kind, String type, Map<String, Object> settings) {
    Parameters parameters = new Parameters(settings);
    P plugin = kind.cast(factory(type).create(parameters));
    assertThat(parameters.unread()).as("settings that %s does not know", type).isEmpty();
    return plugin;
  }

  public static <P extends Plugin> P make(Class<P> kind, String type) {
    return make(kind, type, Map.of());
  }

  /** Checks that the settings are refused with this field's path. */
  public static AbstractThrowableAssert<?, ? extends Throwable> assertRefused(
      String type, Map<String, Object> settings, String field) {
    return Assertions.assertThatThrownBy(() -> factory(type).create(new Parameters(settings)))
        .as("%s with %s", type, settings)
        .isInstanceOfSatisfying(
            InvalidParameterException.class, e -> assertThat(e.field()).isEqualTo(field));
  }
}
