package io.fairlead.crds.document;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.DnsLabel;
import io.fairlead.crds.config.ShadowConfig;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The list of shadows: the same in a config document and in an EndpointPicker. */
public final class ShadowsDocument {

  /** Also a value of a metric's label. */
  private ShadowsDocument() {}

  /**
   * Reads them; what is wrong is told to {@code tree}.
   *
   * @param path where the list stands
   * @param list as it stands there; absent means none
   */
  public static List<ShadowConfig> read(SourceTree tree, FieldPath path, JsonNode list) {
    List<ShadowConfig> shadows = new ArrayList<>();
    Set<String> names = new HashSet<>();
    if (list.size() > ShadowConfig.MOST) {
      tree.error(path, "has " + list.size() + " entries; list " + ShadowConfig.MOST + " at most");
      return shadows;
    }
    for (int i = 0; i < list.size(); i++) {
      FieldPath entry = path.element(i);
      JsonNode shadow = list.get(i);
      String name = shadow.path("name").asText();
      // Also a value of a metric's label.
      if (!DnsLabel.isOne(name)) {
        tree.error(
            entry.field("name"),
            "is " + FieldPath.quote(name) + "; use up to 63 lower-case letters, digits and dashes");
      } else if (!names.add(name)) {
        tree.error(
            entry.field("name"),
            "is "
                + FieldPath.quote(name)
                + ", the name of an earlier shadow; a name may appear only once");
      }
      JsonNode scheduling = shadow.path("scheduling");
      if (!scheduling.isObject()) {
        tree.error(
            entry.field("scheduling"),
            "is missing; say which plugins and profiles to try, {} for the default profile");
        continue;
      }
      shadows.add(
          new ShadowConfig(
              name, SchedulerDocument.read(tree, entry.field("scheduling"), scheduling)));
    }
    return shadows;
  }

  static void put(ObjectNode content, List<ShadowConfig> shadows) {
    if (shadows.isEmpty()) {
      return;
    }
    ArrayNode list = content.putArray("shadows");
    for (ShadowConfig shadow : shadows) {
      ObjectNode entry = list.addObject().put("name", shadow.name());
      entry.set("scheduling", SchedulerDocument.tree(shadow.scheduler()));
    }
  }
}
