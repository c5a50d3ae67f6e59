package io.fairlead.stub.profile;

import io.fairlead.stub.engine.EngineProfile;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Engine profiles by name, in the order of the file that they are read from. The file that ships is
 * {@code engines.yaml} beside this class; one of a user's own has the same form.
 */
public final class EngineProfiles {

  private static final String SHIPPED_FILE = "engines.yaml";
  private static final EngineProfiles SHIPPED = readShipped();

  private final Map<String, EngineProfile> byName;

  EngineProfiles(List<EngineProfile> profiles) {
    Map<String, EngineProfile> named = new LinkedHashMap<>();
    profiles.forEach(profile -> named.put(profile.name(), profile));
    byName = Collections.unmodifiableMap(named);
  }

  /** Those that ship, fastest hardware first. */
  public static EngineProfiles shipped() {
    return SHIPPED;
  }

  /**
   * Those of a YAML text.
   *
   * @param origin where the text is from, for messages
   * @throws IllegalArgumentException if the text is none; the message names the engine and field
   */
  public static EngineProfiles read(String origin, String text) {
    return new EngineProfiles(ProfileDocument.read(origin, text));
  }

  /**
   * The profile of this name.
   *
   * @throws IllegalArgumentException if there is none; the message lists the names
   */
  public EngineProfile named(String name) {
    EngineProfile profile = byName.get(name);
    if (profile == null) {
      throw new IllegalArgumentException(
          "profile: no engine profile \"%s\"; known: %s"
              .formatted(name, String.join(", ", byName.keySet())));
    }
    return profile;
  }

  /** All names. */
  public List<String> names() {
    return List.copyOf(byName.keySet());
  }

  /** All profiles. */
  public List<EngineProfile> all() {
    return List.copyOf(byName.values());
  }

  /**
   * These, and others after them.
   *
   * @throws IllegalArgumentException if a name is in both: a report would not say which was meant
   */
  public EngineProfiles with(EngineProfiles others) {
    for (String name : others.byName.keySet()) {
      if (byName.containsKey(name)) {
        throw new IllegalArgumentException(
            "name: there is an engine profile \"%s\" already; choose another name".formatted(name));
      }
    }
    List<EngineProfile> both = new ArrayList<>(byName.values());
    both.addAll(others.byName.values());
    return new EngineProfiles(both);
  }

  private static EngineProfiles readShipped() {
    try (InputStream in = EngineProfiles.class.getResourceAsStream(SHIPPED_FILE)) {
      if (in == null) {
        throw new IllegalStateException(SHIPPED_FILE + " is missing in the build");
      }
      return read(SHIPPED_FILE, new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
