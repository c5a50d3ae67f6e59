package io.fairlead.crds.document;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.fairlead.v1alpha1.ExternalPlace;
import io.fairlead.crds.fairlead.v1alpha1.ExternalSpec;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The field {@code external} of an EndpointPicker's scheduling. In a config document it is a plugin
 * among others: which container or volume its address and its files come from is the operator's
 * business.
 */
public final class ExternalDocument {

  private static final String FIELD = "external";
  private static final String TYPE = "external-scheduler";

  private static final Schema SCHEMA =
      Schemas.part("endpointpickers", "/properties/spec/properties/scheduling/properties/" + FIELD);

  private ExternalDocument() {}

  /**
   * Puts a plugin in the place of the field; what is wrong with it is told to {@code tree}.
   *
   * @param path where the scheduling stands
   * @param scheduling changed; anything that is no object is left alone
   * @param place where the scheduler is
   */
  public static void replace(
      SourceTree tree,
      FieldPath path,
      JsonNode scheduling,
      Function<ExternalSpec, ExternalPlace> place) {
    if (!(scheduling instanceof ObjectNode object) || !object.hasNonNull(FIELD)) {
      return;
    }
    int before = tree.errorCount();
    SCHEMA.check(tree, path.field(FIELD), object.get(FIELD));
    ExternalSpec spec = tree.errorCount() == before ? ExternalSpec.of(object) : null;
    JsonNode external = object.remove(FIELD);
    if (spec == null) {
      return;
    }
    JsonNode listed = object.path("plugins");
    if (listed.isMissingNode() || listed.isArray()) {
      ObjectNode plugin = object.withArray("plugins").addObject().put("type", TYPE);
      plugin.set("parameters", parameters(place.apply(spec), external));
    }
  }

  private static JsonNode parameters(ExternalPlace place, JsonNode external) {
    ObjectNode parameters = ((ObjectNode) external).objectNode();
    parameters.put("address", place.address());
    ExternalSpec.@Nullable ServiceSpec service = place.spec().service();
    if (service != null && service.tls() != null) {
      parameters.put("tls", true);
      if (service.tls().hasFile()) {
        parameters.put("caFile", place.caFile());
      }
    }
    external
        .properties()
        .forEach(
            field -> {
              if (!field.getKey().equals("sidecar") && !field.getKey().equals("service")) {
                parameters.set(field.getKey(), field.getValue());
              }
            });
    return parameters;
  }
}
