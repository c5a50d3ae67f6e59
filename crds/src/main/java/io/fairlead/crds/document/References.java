package io.fairlead.crds.document;

import com.fasterxml.jackson.databind.JsonNode;
import io.fairlead.crds.config.ImpliedTypes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Holds names of plugins against those that are declared. */
final class References {

  private static final int MOST_SHOWN = 20;

  private final SourceTree tree;
  private final @Nullable Set<String> declared;

  /**
   * @param declared null when nobody knows, since the list of plugins is wrong itself
   */
  References(SourceTree tree, @Nullable Set<String> declared) {
    this.tree = tree;
    this.declared = declared;
  }

  /**
   * The name at {@code node}, or null when there is none. One that nothing declares is an error,
   * unless it is one of {@code implied}.
   */
  @Nullable String check(FieldPath path, JsonNode node, ImpliedTypes implied) {
    if (!node.isTextual()) {
      return null;
    }
    String name = node.textValue();
    if (declared != null && !declared.contains(name) && !implied.has(name)) {
      tree.error(
          path,
          "is "
              + FieldPath.quote(name)
              + ", but no plugin has that name; declare it under plugins"
              + (declared.isEmpty() ? "" : " or use one of " + quoted(declared)));
    }
    return name;
  }

  /** The names in the {@code pluginRef}s of a list. */
  List<String> all(FieldPath path, JsonNode list, ImpliedTypes implied) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      String name =
          check(path.element(i).field("pluginRef"), list.get(i).path("pluginRef"), implied);
      names.add(name == null ? "" : name);
    }
    return names;
  }

  private static String quoted(Set<String> names) {
    return String.join(
        ", ", names.stream().sorted().limit(MOST_SHOWN).map(FieldPath::quote).toList());
  }
}
