package io.fairlead.epp;

import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.epp.config.ConfigOffer;
import io.fairlead.epp.config.ConfigReaders;
import io.fairlead.epp.config.DocumentCompiler;
import java.io.IOException;

/**
 * A scheduling that nothing runs by, for who asks what it would do: an EndpointPickerConfig, an
 * EndpointPicker's, or a whole config document's.
 */
public final class TriedConfig {

  private final DocumentCompiler compiler = new DocumentCompiler(PluginTypes.found());
  private final ConfigOffer.Document document;

  private TriedConfig(ConfigOffer.Document document) {
    this.document = document;
  }

  /**
   * Reads it.
   *
   * @param origin where the text stands, for messages
   * @throws IOException if it can't be run: one line for each problem, with the path of its field
   */
  public static TriedConfig read(String origin, String text) throws IOException {
    return switch (ConfigReaders.tried(origin, text)) {
      case ConfigOffer.Document document -> {
        TriedConfig config = new TriedConfig(document);
        var _ = config.compile();
        yield config;
      }
      case ConfigOffer.Unreadable unreadable ->
          throw new IOException(new DocumentCompiler(PluginTypes.found()).problems(unreadable));
    };
  }

  /**
   * Makes its plugins; each call makes other ones.
   *
   * @throws IOException as {@link #read} does
   */
  public CompiledConfig compile() throws IOException {
    return switch (compiler.compile(document, null)) {
      case DocumentCompiler.Result.Usable usable -> usable.config();
      case DocumentCompiler.Result.Refused refused -> throw new IOException(refused.message());
    };
  }
}
