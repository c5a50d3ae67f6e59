package io.fairlead.crds.convert;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.document.FieldError;
import io.fairlead.crds.document.SourceTree;
import io.fairlead.crds.document.TreeWriter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConverterTest {
  private static final Set<String> ALL = Set.copyOf(Converter.KINDS);

  private static final String MODEL =
      """
      apiVersion: inference.networking.x-k8s.io/v1alpha2
      kind: InferenceModel
      metadata: {name: chat, namespace: ns, labels: {team: a}}
      spec:
        modelName: chat
        criticality: Critical
        targetModels: [{name: chat-v1, weight: 90}, {name: chat-v2, weight: 10}]
        poolRef: {name: p}
      """;

  private static final String OLD_POOL =
      """
      apiVersion: inference.networking.x-k8s.io/v1alpha2
      kind: InferencePool
      metadata: {name: p, namespace: ns}
      spec:
        selector: {app: vllm}
        targetPortNumber: 8000
        extensionRef: {name: p-epp, failureMode: FailOpen}
      """;

  private static Converted convert(Direction to, String text) {
    return new Converter(to, ALL, null).convert(Map.of("in.yaml", text));
  }

  private static List<JsonNode> objects(String text) {
    return SourceTree.parse("out", text).stream().map(SourceTree::root).toList();
  }

  private static JsonNode yaml(String text) {
    return SourceTree.parseOne("test", text).root();
  }

  private static List<String> lines(List<FieldError> errors) {
    return errors.stream().map(FieldError::toString).toList();
  }

  @Test
  void aModelIsAnObjectiveAndARewriteOfItsName() {
    Converted converted = convert(Direction.NEW, MODEL);
    assertThat(objects(converted.text()))
        .containsExactly(
            yaml(
                """
                apiVersion: inference.networking.x-k8s.io/v1alpha2
                kind: InferenceObjective
                metadata: {name: chat, namespace: ns, labels: {team: a}}
                spec: {priority: 1, poolRef: {group: inference.networking.k8s.io, name: p}}
                """),
            yaml(
                """
                apiVersion: inference.networking.x-k8s.io/v1alpha2
                kind: InferenceModelRewrite
                metadata: {name: chat, namespace: ns, labels: {team: a}}
                spec:
                  poolRef: {group: inference.networking.k8s.io, name: p}
                  rules:
                    - matches: [{model: {type: Exact, value: chat}}]
                      targets:
                        - {modelRewrite: chat-v1, weight: 90}
                        - {modelRewrite: chat-v2, weight: 10}
                """));
    assertThat(lines(converted.lost()))
        .containsExactly(
            "in.yaml:6: spec.criticality: counts only for requests that say so from now on: send"
                + " the header x-gateway-inference-objective: chat");
    assertThat(converted.failed()).isEmpty();
  }

  /** Its controller need not know the other kind: nobody would take the finalizer out. */
  @Test
  void whatOtherControllersPutIntoTheHeadIsTold() {
    Converted converted =
        convert(
            Direction.NEW,
            OLD_POOL.replace(
                "metadata: {name: p, namespace: ns}",
                "metadata: {name: p, namespace: ns, finalizers: [a.example/b], ownerReferences: [{apiVersion: v1, kind: Secret, name: s, uid: u}]}"));
    JsonNode metadata = objects(converted.text()).getFirst().path("metadata");
    assertThat(metadata.path("finalizers").isMissingNode()).isTrue();
    assertThat(metadata.path("ownerReferences").path(0).path("uid").asText()).isEqualTo("u");
    assertThat(lines(converted.lost()))
        .containsExactlyInAnyOrder(
            "in.yaml:3: metadata.finalizers: is left out: whoever set it may not know the new kind, and would keep the object for ever",
            "in.yaml:3: metadata.ownerReferences: is copied: in another cluster, or where the owner is gone, take it out, or the object is deleted");
  }

  @Test
  void aPoolOfTheOldGroupIsOneOfTheSettledGroup() {
    Converted converted = convert(Direction.NEW, OLD_POOL);
    assertThat(objects(converted.text()))
        .containsExactly(
            yaml(
                """
                apiVersion: inference.networking.k8s.io/v1
                kind: InferencePool
                metadata: {name: p, namespace: ns}
                spec:
                  selector: {matchLabels: {app: vllm}}
                  targetPorts: [{number: 8000}]
                  endpointPickerRef: {name: p-epp, port: {number: 9002}, failureMode: FailOpen}
                """));
    assertThat(converted.lost()).isEmpty();
  }

  /** It would fail only when it is applied, with a path that the author never wrote. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          weight: 90}      | weight: 0}         | 7: spec.targetModels[0].weight: is 0, expected a whole number from 1 to 1000000
          weight: 90}      | weight: 1000001}   | 7: spec.targetModels[0].weight: is 1000001, expected a whole number from 1 to 1000000
          weight: 10}      | weight: "x"}       | 7: spec.targetModels[1].weight: is "x", expected a whole number from 1 to 1000000
          """)
  void aWeightThatNoRewriteCanHaveIsRefused(String from, String to, String told) {
    refuses(Direction.NEW, MODEL.replace(from, to), told);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          targetPortNumber: 8000 | targetPortNumber: 0       | 6: spec.targetPortNumber: is 0, expected a whole number from 1 to 65535
          targetPortNumber: 8000 | targetPortNumber: 65536   | 6: spec.targetPortNumber: is 65536, expected a whole number from 1 to 65535
          targetPortNumber: 8000 | targetPortNumber: "http"  | 6: spec.targetPortNumber: is "http", expected a whole number from 1 to 65535
          targetPortNumber: 8000 | targetPortNumber: 80.5    | 6: spec.targetPortNumber: is 80.5, expected a whole number from 1 to 65535
          {name: p-epp,          | {portNumber: 70000,       | 7: spec.extensionRef.portNumber: is 70000, expected a whole number from 1 to 65535
          {app: vllm}            | {app: "-x"}               | 5: spec.selector.app: is no value of a label
          {app: vllm}            | {app: true}               | 5: spec.selector.app: is true, expected a text
          {app: vllm}            | {app: }                   | 5: spec.selector.app: is null, expected a text; "" is the empty one
          {app: vllm}            | {app: null}               | 5: spec.selector.app: is null, expected a text; "" is the empty one
          {app: vllm}            | vllm                      | 5: spec.selector: is "vllm", expected labels
          """)
  void whatNoPoolOfV1CanHaveIsRefused(String from, String to, String told) {
    refuses(Direction.NEW, OLD_POOL.replace(from, to), told);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          number: 8000   | number: 0       | 6: spec.targetPorts[0].number: is 0, expected a whole number from 1 to 65535
          number: 9002   | number: "grpc"  | 7: spec.endpointPickerRef.port.number: is "grpc", expected a whole number
          app: vllm      | app: "a b"      | 5: spec.selector.matchLabels.app: is no value of a label
          """)
  void whatNoOlderPoolCanHaveIsRefused(String from, String to, String told) {
    String pool =
        """
        apiVersion: inference.networking.k8s.io/v1
        kind: InferencePool
        metadata: {name: p, namespace: ns}
        spec:
          selector: {matchLabels: {app: vllm}}
          targetPorts: [{number: 8000}]
          endpointPickerRef: {name: p-epp, port: {number: 9002}}
        """;
    refuses(Direction.OLD, pool.replace(from, to), told);
  }

  private static void refuses(Direction to, String text, String told) {
    Converted converted = convert(to, text);
    assertThat(lines(converted.failed())).singleElement().asString().startsWith("in.yaml:" + told);
    assertThat(converted.text()).as("as it was").isEqualTo(text);
  }

  @Test
  void everythingElseGoesThroughByteForByteAndInOrder() {
    String template = "kind: Other\nvalue: {{ .Values.x }}\n";
    String aliases = "# a comment\nkind: ConfigMap\na: &x 1\nb: *x\n";
    Converted converted =
        convert(Direction.NEW, aliases + "---\n" + OLD_POOL + "---\n" + template + "---\n\n---\n");
    assertThat(converted.text()).startsWith(aliases + "---\n").endsWith("---\n" + template);
    assertThat(converted.failed()).isEmpty();
    assertThat(convert(Direction.NEW, aliases + "---\n" + template).text())
        .isEqualTo(aliases + "---\n" + template);
    assertThat(convert(Direction.OLD, OLD_POOL).text()).isEqualTo(OLD_POOL);
  }

  @Test
  void kindsThatAreNotWantedStay() {
    Converted converted =
        new Converter(Direction.NEW, Set.of("InferencePool"), null)
            .convert(Map.of("in.yaml", OLD_POOL + "---\n" + MODEL));
    assertThat(converted.text()).endsWith("---\n" + MODEL);
    assertThat(objects(converted.text()).getFirst().path("apiVersion").asText())
        .isEqualTo("inference.networking.k8s.io/v1");
    JsonNode objective =
        objects(
                new Converter(Direction.NEW, Set.of("InferenceModel"), "llm-d.ai")
                    .convert(Map.of("in.yaml", MODEL))
                    .text())
            .getFirst();
    assertThat(objective.path("apiVersion").asText()).isEqualTo("llm-d.ai/v1alpha2");
    assertThat(objective.at("/spec/poolRef/group").asText())
        .as("the pools stay where they are")
        .isEqualTo("inference.networking.x-k8s.io");
  }

  @Test
  void objectsInListsAreConvertedInTheirPlaces() {
    Converted converted =
        convert(
            Direction.NEW,
            "{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": [%s, {\"kind\": \"Other\"}]}"
                .formatted(yaml(MODEL)));
    assertThat(objects(converted.text()).getFirst().path("items"))
        .extracting(item -> item.path("kind").asText())
        .containsExactly("InferenceObjective", "InferenceModelRewrite", "Other");
    assertThat(lines(converted.lost())).singleElement().asString().contains("items[0].spec");
  }

  @Test
  void whatIsLostIsToldByField() {
    Converted converted =
        convert(
            Direction.OLD,
            """
            kind: ConfigMap
            ---
            apiVersion: inference.networking.k8s.io/v1
            kind: InferencePool
            metadata: {name: p, uid: x}
            spec:
              selector: {matchLabels: {app: vllm}}
              targetPorts: [{number: 8000}, {number: 8001}]
              appProtocol: kubernetes.io/h2c
              endpointPickerRef: {name: p-epp, port: {number: 9002}}
              mine: 1
            status: {parents: []}
            ---
            apiVersion: llm-d.ai/v1alpha2
            kind: InferenceObjective
            metadata: {name: alone}
            spec: {priority: 7, poolRef: {name: p}}
            ---
            apiVersion: llm-d.ai/v1alpha2
            kind: InferenceObjective
            metadata: {name: r}
            spec: {priority: 7, poolRef: {name: p}}
            ---
            apiVersion: llm-d.ai/v1alpha2
            kind: InferenceModelRewrite
            metadata: {name: r}
            spec:
              poolRef: {name: p}
              rules:
                - matches: [{model: {value: a}}, {model: {value: b}}]
                  targets: [{modelRewrite: v1, weight: 1}, {modelRewrite: never}]
            """);
    assertThat(converted.lost())
        .extracting(lost -> "(%d, \"%s\")".formatted(lost.line(), lost.path()))
        .containsExactly(
            "(5, \"metadata.uid\")",
            "(12, \"status\")",
            "(8, \"spec.targetPorts[1].number\")",
            "(9, \"spec.appProtocol\")",
            "(11, \"spec.mine\")",
            "(31, \"spec.rules[0].targets[1].modelRewrite\")",
            "(26, \"metadata.name\")",
            "(22, \"spec.priority\")",
            "(14, \"\")");
    assertThat(objects(converted.text()))
        .extracting(
            object -> object.path("kind").asText() + " " + object.at("/metadata/name").asText())
        .containsExactly(
            "ConfigMap ",
            "InferencePool p",
            "InferenceObjective alone",
            "InferenceModel r-1",
            "InferenceModel r-2");
    assertThat(objects(converted.text()).getLast().at("/spec/criticality").asText())
        .isEqualTo("Critical");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "spec.modelName | {modelName: '', poolRef: {name: p}}",
        "spec.poolRef | {modelName: chat}",
        "spec.modelName | {modelName: yes, poolRef: {name: p}}",
        "spec.poolRef.group | {modelName: chat, poolRef: {name: p, group: 1}}",
        "spec.targetModels[0].name | {modelName: chat, targetModels: [{name: 1.10}], poolRef: {name: p}}",
        "spec.criticality | {modelName: chat, criticality: Vital, poolRef: {name: p}}"
      })
  void whatCannotBeConvertedStaysAndIsNamed(String row) {
    String text =
        "apiVersion: inference.networking.x-k8s.io/v1alpha2\nkind: InferenceModel\nmetadata: {name: m}\nspec: "
            + row.substring(row.indexOf('{'))
            + "\n";
    Converted converted = convert(Direction.NEW, text);
    assertThat(converted.text()).isEqualTo(text);
    assertThat(converted.lost()).isEmpty();
    assertThat(converted.failed())
        .singleElement()
        .extracting(FieldError::path)
        .isEqualTo(row.substring(0, row.indexOf(' ')));
    assertThat(convert(Direction.NEW, "kind: InferenceModel\n  bad: [").failed()).hasSize(1);
  }

  /** Of many documents nobody could tell else which one lacks it. */
  @Test
  void whatIsMissingIsFoundByTheLineOfItsDocument() {
    String model =
        "apiVersion: inference.networking.x-k8s.io/v1alpha2\nkind: InferenceModel\nmetadata: {name: %s}\n";
    String text =
        model.formatted("a")
            + "spec: {modelName: a, poolRef: {name: p}}\n---\n"
            + model.formatted("b")
            + "---\n"
            + model.formatted("c")
            + "spec: {modelName: c}\n";
    assertThat(lines(convert(Direction.NEW, text).failed()))
        .hasSize(3)
        .satisfies(
            failed -> {
              assertThat(failed.subList(0, 2)).allMatch(line -> line.startsWith("in.yaml:6: spec"));
              assertThat(failed.getLast()).matches("in\\.yaml:1[0-3]: spec\\.poolRef: .*");
            });
  }

  /** Of two objects with one name the second would take the first's place when they are applied. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "OLD|llm-d.ai InferenceModelRewrite r a,b|llm-d.ai InferenceModelRewrite r-2 c",
        "OLD|llm-d.ai InferenceModelRewrite r a|inference.networking.x-k8s.io InferenceModelRewrite r b",
        "OLD|llm-d.ai InferenceModelRewrite r-1 a|llm-d.ai InferenceModelRewrite r b,c",
        "OLD|inference.networking.x-k8s.io InferenceModel r a|llm-d.ai InferenceModelRewrite r b",
        "NEW|inference.networking.x-k8s.io InferenceModelRewrite r a|inference.networking.x-k8s.io InferenceModel r a",
        "NEW|inference.networking.x-k8s.io InferenceModel r a|inference.networking.x-k8s.io InferenceModel r b",
        "NEW|inference.networking.k8s.io InferencePool r a|inference.networking.x-k8s.io InferencePool r a"
      })
  void noTwoObjectsOfOneNameAreMade(String row) {
    String[] cells = row.split("\\|", -1);
    String first = object(cells[1]);
    String second = object(cells[2]);
    Converted converted =
        convert(
            Direction.valueOf(cells[0]),
            first + "---\n" + second + "---\n" + object("v1 ConfigMap r a"));
    List<JsonNode> made = objects(converted.text());
    assertThat(made)
        .extracting(
            object ->
                object.path("apiVersion").asText().replaceAll("/.*", "")
                    + object.path("kind")
                    + object.at("/metadata/name"))
        .doesNotHaveDuplicates();
    assertThat(made).as("stays as it was").contains(yaml(second));
    assertThat(lines(converted.failed()))
        .singleElement()
        .asString()
        .startsWith("in.yaml:%d: metadata.name: ".formatted(3 + first.lines().count() + 1))
        .contains("in.yaml:1", "rename one");
  }

  private static String object(String words) {
    String[] is = words.split(" ", -1);
    String version = is[0].equals("inference.networking.k8s.io") ? "v1" : "v1alpha2";
    String matches =
        Stream.of(is[3].split(",", -1))
            .map("{model: {value: %s}}"::formatted)
            .collect(Collectors.joining(", "));
    String spec =
        switch (is[1]) {
          case "InferencePool" ->
              version.equals("v1")
                  ? "{selector: {matchLabels: {a: b}}, targetPorts: [{number: 1}], endpointPickerRef: {name: e, port: {number: 9002}}}"
                  : "{selector: {a: b}, targetPortNumber: 1, extensionRef: {name: e}}";
          case "InferenceModel" -> "{modelName: %s, poolRef: {name: p}}".formatted(is[3]);
          default ->
              "{poolRef: {name: p}, rules: [{matches: [%s], targets: [{modelRewrite: v}]}]}"
                  .formatted(matches);
        };
    return "apiVersion: %s/%s\nkind: %s\nmetadata: {name: %s, namespace: ns}\nspec: %s\n"
        .formatted(is[0], version, is[1], is[2], spec);
  }

  @Test
  void aNameThatIsStillToBeGivenStaysSo() {
    String rewrite =
        object("llm-d.ai InferenceModelRewrite r a,b").replace("name: r,", "generateName: r-,");
    String objective =
        """
        apiVersion: llm-d.ai/v1alpha2
        kind: InferenceObjective
        metadata: {generateName: other-, namespace: ns}
        spec: {priority: 7, poolRef: {name: p}}
        """;
    Converted old = convert(Direction.OLD, rewrite + "---\n" + objective + "---\n" + rewrite);
    assertThat(old.failed()).isEmpty();
    assertThat(objects(old.text()))
        .extracting(object -> object.path("kind").asText() + " " + object.path("metadata"))
        .containsExactly(
            "InferenceModel {\"generateName\":\"r-\",\"namespace\":\"ns\"}",
            "InferenceModel {\"generateName\":\"r-\",\"namespace\":\"ns\"}",
            "InferenceObjective {\"generateName\":\"other-\",\"namespace\":\"ns\"}",
            "InferenceModel {\"generateName\":\"r-\",\"namespace\":\"ns\"}",
            "InferenceModel {\"generateName\":\"r-\",\"namespace\":\"ns\"}");
    Converted now = convert(Direction.NEW, MODEL.replace("name: chat,", "generateName: chat-,"));
    assertThat(now.failed()).isEmpty();
    assertThat(objects(now.text()))
        .allMatch(object -> object.at("/metadata/generateName").asText().equals("chat-"));
    assertThat(lines(now.lost()))
        .singleElement()
        .asString()
        .endsWith("x-gateway-inference-objective: the name that the objective is given");
  }

  /** Every field of an old object that is not the same after both ways was told as lost. */
  @Test
  void whatIsNotToldAsLostComesBackEqual() {
    for (int seed = 0; seed < 3_000; seed++) {
      Random random = new Random(seed);
      ObjectNode before = random.nextBoolean() ? randomModel(random) : randomPool(random);
      Converted there = convert(Direction.NEW, TreeWriter.yaml(before));
      if (!there.failed().isEmpty()) {
        continue;
      }
      Converted back = convert(Direction.OLD, there.text());
      assertThat(back.failed()).as("seed %d: %s", seed, there.text()).isEmpty();
      List<JsonNode> after = objects(back.text());
      assertThat(after).as("seed %d", seed).hasSize(1);
      Map<String, JsonNode> now = leaves(after.getFirst());
      Set<String> told = new HashSet<>();
      there.lost().forEach(lost -> told.add(lost.path()));
      for (Map.Entry<String, JsonNode> leaf : leaves(before).entrySet()) {
        String path = leaf.getKey();
        JsonNode is = now.get(path);
        if (!leaf.getValue().toString().equals(String.valueOf(is))
            && !isDefault(path, leaf.getValue(), before, is)) {
          assertThat(told)
              .as("seed %d: %s was %s and is %s", seed, path, leaf.getValue(), is)
              .anyMatch(path::startsWith);
        }
      }
    }
  }

  /** A target that is the model itself is the same as none. */
  private static boolean isDefault(
      String path, JsonNode value, JsonNode object, @Nullable JsonNode now) {
    return now == null
        && path.equals("spec.targetModels[0].name")
        && object.at("/spec/targetModels").size() == 1
        && value.equals(object.at("/spec/modelName"));
  }

  private static ObjectNode randomModel(Random random) {
    ObjectNode model = (ObjectNode) yaml(MODEL);
    ObjectNode spec = (ObjectNode) model.path("spec");
    spec.put("modelName", word(random));
    spec.remove("targetModels");
    spec.remove("criticality");
    if (random.nextBoolean()) {
      spec.put("criticality", List.of("Critical", "Standard", "Sheddable").get(random.nextInt(3)));
    }
    int targets = random.nextInt(4);
    boolean weights = random.nextBoolean();
    for (int i = 0; i < targets; i++) {
      ObjectNode target =
          spec.withArray("targetModels").addObject().put("name", word(random) + (i == 0 ? "" : i));
      if (weights) {
        target.put("weight", 1 + random.nextInt(1_000_000));
      }
    }
    ((ObjectNode) spec.path("poolRef")).put("group", "inference.networking.x-k8s.io");
    return extras(random, model);
  }

  private static ObjectNode randomPool(Random random) {
    ObjectNode pool = (ObjectNode) yaml(OLD_POOL);
    ObjectNode spec = (ObjectNode) pool.path("spec");
    spec.putObject("selector").put(word(random), word(random)).put("app", word(random));
    spec.put("targetPortNumber", 1 + random.nextInt(65535));
    ObjectNode ref = spec.putObject("extensionRef").put("name", word(random));
    if (random.nextBoolean()) {
      ref.put("portNumber", 1 + random.nextInt(65535));
    }
    if (random.nextBoolean()) {
      ref.put("kind", "Service").put("group", "");
    }
    if (random.nextBoolean()) {
      ref.put("failureMode", random.nextBoolean() ? "FailOpen" : "FailClose");
    }
    return extras(random, pool);
  }

  private static ObjectNode extras(Random random, ObjectNode object) {
    ObjectNode metadata = (ObjectNode) object.path("metadata");
    if (random.nextInt(3) == 0) {
      metadata.put("uid", word(random)).put("resourceVersion", "1");
    }
    if (random.nextInt(3) == 0) {
      metadata.putObject("annotations").put("fairlead.io/timeout", "5s").put("a", word(random));
    }
    if (random.nextInt(3) == 0) {
      object.putObject("status").put("x", 1);
    }
    if (random.nextInt(3) == 0) {
      ((ObjectNode) object.path("spec")).put("unknown", word(random));
    }
    return object;
  }

  private static String word(Random random) {
    List<String> words =
        List.of(
            "chat", "yes", "1e3", "0x1f", "null", "~", "a: b", "# no", "ünï", "-", "123", "a\"b");
    return words.get(random.nextInt(words.size()));
  }

  private static Map<String, JsonNode> leaves(JsonNode object) {
    Map<String, JsonNode> leaves = new TreeMap<>();
    leaves("", object, leaves);
    return leaves;
  }

  private static void leaves(String path, JsonNode node, Map<String, JsonNode> into) {
    if (node.isObject()) {
      node.properties()
          .forEach(
              field ->
                  leaves(
                      path.isEmpty() ? field.getKey() : path + "." + field.getKey(),
                      field.getValue(),
                      into));
    } else if (node.isArray()) {
      List<JsonNode> elements = new ArrayList<>();
      node.forEach(elements::add);
      for (int i = 0; i < elements.size(); i++) {
        leaves(path + "[" + i + "]", elements.get(i), into);
      }
    } else {
      into.put(path, node);
    }
  }
}
