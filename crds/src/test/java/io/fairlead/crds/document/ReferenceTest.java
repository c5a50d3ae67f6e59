package io.fairlead.crds.document;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fairlead.crds.testing.GeneratedPage;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The pages about fields are what the schemas say, by which fields are checked. */
final class ReferenceTest {

  /** Bounds of the types themselves, which say nothing. */
  private static final List<BigDecimal> LIMITS =
      List.of(
          BigDecimal.valueOf(Integer.MIN_VALUE),
          BigDecimal.valueOf(Integer.MAX_VALUE),
          BigDecimal.valueOf(Long.MAX_VALUE));

  /** What minimum and maximum end in. */
  private static final String VALUE = "imum";

  private static final Map<String, String> BOUNDS =
      Map.of(
          "Length",
          "%s characters",
          "Items",
          "%s elements",
          "Properties",
          "%s entries",
          VALUE,
          "%s");

  @Test
  void theResources() throws IOException {
    GeneratedPage page =
        new GeneratedPage(
            "Fields of the resources",
            """
            Every field of the kinds that Fairlead installs, with what the API server checks of it. `kubectl explain --recursive epp.spec` says the same of a \
            cluster. The operator checks more, across fields and objects; what it finds stands in [conditions](../conditions.md). \
            [install.md](../install.md) says whose kinds these are, and [config/samples](../../config/samples) has an example of each feature.

            A field is required where it says so, inside an object that may be absent itself. `[]` stands for each element of a list, `{}` for the value of \
            each key.
            """);
    for (String file :
        List.of(
            "endpointpickers.yaml",
            "upstream/inferencemodels.yaml",
            "upstream/inferencepools.yaml")) {
      kind(page, new YAMLMapper().readTree(Path.of("manifests", file).toFile()).path("spec"));
    }
    page.hold("reference/resources.md", ReferenceTest.class);
  }

  @Test
  void theConfig() throws IOException {
    GeneratedPage page =
        new GeneratedPage(
            "Fields of the config",
            """
            Every field of the documents that a picker reads, and every parameter of the plugin types that come with Fairlead, with what is checked of it. An \
            unknown field is refused everywhere. [plugins.md](../plugins.md) says what plugin types and parameters do, and what counts where a parameter is \
            absent.
            """);
    page.section("EndpointPickerConfig")
        .paragraph(
            """
            Upstream's document: `--config-file`, `--config-text`, and `spec.scheduling` of an [EndpointPicker](resources.md#endpointpicker), which has \
            `external` beside these fields. A quantity is a number, or a text such as `5k` or `1Gi`.
            """);
    fields(page, document("endpoint-picker-config"));
    page.section("PoolConfig")
        .paragraph(
            """
            What the operator generates, one for each picker: `config.yaml` in the ConfigMap `POOL-epp`. With `--endpoints`, `--config-file` takes one, too. \
            Its section `requests` has the fields of [`spec.requests`](resources.md#endpointpicker) of an EndpointPicker.
            """);
    fields(page, document("pool-config"));
    page.section("The list of endpoints")
        .paragraph("What `--endpoints` takes, beside an EndpointSlice.");
    fields(page, document("endpoints-file"));
    page.section("Parameters of plugin types")
        .paragraph(
            """
            A type that is not in this table takes no parameters. Of one that is marked with … the picker alone checks what is not listed here. It also \
            checks what excludes or needs each other. A parameter that is `any value` has no effect.
            """)
        .table("type", "parameter", "is", "allowed");
    document("plugin-types")
        .path("types")
        .properties()
        .forEach(
            type -> {
              String open =
                  type.getValue().path("x-kubernetes-preserve-unknown-fields").asBoolean()
                      ? " …"
                      : "";
              for (Field field : below("", type.getValue())) {
                page.row(
                    GeneratedPage.code(type.getKey()) + open,
                    GeneratedPage.code(field.path()),
                    field.is(),
                    allowed(field.schema()));
              }
            });
    page.hold("reference/config.md", ReferenceTest.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"endpoint-picker-config", "pool-config", "endpoints-file"})
  void everyFieldOfADocumentIsDescribed(String document) {
    assertThat(below("", document(document)))
        .isNotEmpty()
        .allSatisfy(
            field ->
                assertThat(field.schema().path("description").asText())
                    .as(field.path())
                    .endsWith("."));
  }

  private static void kind(GeneratedPage page, JsonNode crd) {
    JsonNode version = crd.at("/versions/0");
    page.section(crd.at("/names/kind").asText())
        .paragraph(
            "`%s/%s`, %s; %s.%s"
                .formatted(
                    crd.path("group").asText(),
                    version.path("name").asText(),
                    crd.path("scope").asText().toLowerCase(Locale.ROOT),
                    names(crd.path("names")),
                    version.at("/subresources/scale").isMissingNode()
                        ? ""
                        : " It can be scaled: `%s`."
                            .formatted(
                                version.at("/subresources/scale/specReplicasPath").asText())))
        .paragraph(GeneratedPage.prose(version.at("/schema/openAPIV3Schema/description").asText()));
    String selectable =
        version
            .path("selectableFields")
            .valueStream()
            .map(field -> GeneratedPage.code(field.path("jsonPath").asText().substring(1)))
            .collect(Collectors.joining(", "));
    page.paragraph(
        selectable.isEmpty()
            ? ""
            : "Fields for `kubectl get --field-selector`: " + selectable + ".");
    if (version.has("additionalPrinterColumns")) {
      page.table("column of `kubectl get`", "shows", "from");
    }
    version
        .path("additionalPrinterColumns")
        .forEach(
            column ->
                page.row(
                    column.path("name").asText()
                        + (column.path("priority").asInt() > 0 ? " (with `-o wide`)" : ""),
                    column.path("description").asText("How long it has existed."),
                    GeneratedPage.code(column.path("jsonPath").asText())));
    fields(page, version.at("/schema/openAPIV3Schema"));
  }

  private static String names(JsonNode names) {
    List<String> all = new ArrayList<>();
    all.add(GeneratedPage.code(names.path("plural").asText()));
    names.path("shortNames").forEach(name -> all.add(GeneratedPage.code(name.asText())));
    return "kubectl knows it as "
        + String.join(" or ", all)
        + names
            .path("categories")
            .valueStream()
            .map(name -> ", and among " + GeneratedPage.code(name.asText()))
            .collect(Collectors.joining());
  }

  private static void fields(GeneratedPage page, JsonNode schema) {
    page.table("field", "is", "allowed", "says");
    for (Field field : below("", schema)) {
      page.row(
          GeneratedPage.code(field.path()),
          field.is(),
          allowed(field.schema()),
          GeneratedPage.prose(field.schema().path("description").asText()));
    }
  }

  /**
   * A field at any depth.
   *
   * @param path from the whole
   * @param required whether the object that it is in must have it
   */
  private record Field(String path, boolean required, JsonNode schema) {

    /** What it is, in one line. */
    String is() {
      String preset =
          schema.has("default") && schema.path("default").isValueNode()
              ? ", default " + GeneratedPage.code(schema.path("default").asText())
              : "";
      return type(schema) + (required ? ", required" : "") + preset;
    }
  }

  /** Without what every object has, and without elements of which there is nothing to say. */
  private static List<Field> below(String prefix, JsonNode schema) {
    List<String> required = schema.path("required").valueStream().map(JsonNode::asText).toList();
    List<Field> fields = new ArrayList<>();
    schema
        .path("properties")
        .properties()
        .forEach(
            property -> {
              String name = property.getKey();
              if (prefix.isEmpty()
                  && List.of("apiVersion", "kind", "metadata").contains(name)
                  && !property.getValue().has("enum")) {
                return;
              }
              fields.add(new Field(prefix + name, required.contains(name), property.getValue()));
              fields.addAll(below(prefix + name + ".", property.getValue()));
              for (Map.Entry<String, String> inner :
                  Map.of("items", "[]", "additionalProperties", "{}").entrySet()) {
                JsonNode element = property.getValue().path(inner.getKey());
                if (element.isObject()) {
                  String path = prefix + name + inner.getValue();
                  if (element.has("description")) {
                    fields.add(new Field(path, false, element));
                  }
                  fields.addAll(below(path + ".", element));
                }
              }
            });
    return fields;
  }

  private static String type(JsonNode schema) {
    if (schema.path("x-kubernetes-int-or-string").asBoolean()) {
      return "integer or string";
    }
    String type = schema.path("type").asText("any value");
    String format = schema.path("format").asText();
    return switch (type) {
      case "array" ->
          "list"
              + (schema.at("/items/type").isMissingNode()
                  ? ""
                  : " of " + plural(schema.path("items")));
      case "object" ->
          schema.path("additionalProperties").isObject()
              ? "map of " + plural(schema.path("additionalProperties"))
              : type;
      case "string" -> format.isEmpty() ? type : format;
      default -> type;
    };
  }

  private static String plural(JsonNode schema) {
    String one = type(schema);
    return one.equals("integer or string") ? "integers or strings" : one + "s";
  }

  /** What is checked beyond the type. */
  private static String allowed(JsonNode schema) {
    List<String> all = new ArrayList<>();
    if (schema.has("enum")) {
      all.add(
          schema
              .path("enum")
              .valueStream()
              .map(value -> GeneratedPage.code(value.asText()))
              .collect(Collectors.joining(", ")));
    }
    BOUNDS.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(bound -> range(schema, bound.getKey(), bound.getValue()))
        .filter(range -> !range.isEmpty())
        .forEach(all::add);
    if (schema.has("pattern")) {
      all.add("matches " + GeneratedPage.code(schema.path("pattern").asText()));
    }
    if (schema.has("x-kubernetes-list-map-keys")) {
      all.add(
          "no two of the same "
              + schema
                  .path("x-kubernetes-list-map-keys")
                  .valueStream()
                  .map(key -> GeneratedPage.code(key.asText()))
                  .collect(Collectors.joining(" and ")));
    }
    if (schema.path("x-kubernetes-list-type").asText().equals("set")) {
      all.add("no two the same");
    }
    if (schema.path("x-kubernetes-preserve-unknown-fields").asBoolean()
        && schema.has("description")) {
      all.add("any field");
    }
    schema
        .path("x-kubernetes-validations")
        .forEach(
            rule ->
                all.add(
                    GeneratedPage.code(rule.path("rule").asText())
                        + " (“"
                        + GeneratedPage.prose(rule.path("message").asText())
                        + "”)"));
    return String.join("; ", all);
  }

  private static String range(JsonNode schema, String bound, String unit) {
    String least = limit(schema.path("min" + bound));
    String most = limit(schema.path("max" + bound));
    boolean counted = !bound.equals(VALUE);
    if (counted && least.equals("0")) {
      least = "";
    }
    if (least.isEmpty() && most.isEmpty()) {
      return "";
    }
    if (counted && least.equals("1") && most.isEmpty()) {
      return "not empty";
    }
    return unit.formatted(
        most.isEmpty()
            ? "at least " + least
            : least.isEmpty() ? "at most " + most : least + " to " + most);
  }

  private static String limit(JsonNode value) {
    return value.isMissingNode() || LIMITS.contains(value.decimalValue())
        ? ""
        : value.decimalValue().stripTrailingZeros().toPlainString();
  }

  private static JsonNode document(String name) {
    return Schemas.tree(name);
  }
}
