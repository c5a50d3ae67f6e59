package io.fairlead.operator.status;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fairlead.crds.compile.Finding;
import io.fairlead.crds.testing.GeneratedPage;
import io.fairlead.operator.testing.Makes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The catalogue of conditions is the whole truth, and the document about it too. */
class CatalogueTest {
  @Test
  void everyReasonIsMadeByATest() {
    Set<Reason> made = EnumSet.noneOf(Reason.class);
    new ClassFileImporter()
            .withImportOption(new ImportOption.OnlyIncludeTests())
            .importPackages("io.fairlead.operator")
            .stream()
            .filter(test -> test.isAnnotatedWith(Makes.class))
            .forEach(
                test -> made.addAll(List.of(test.reflect().getAnnotation(Makes.class).value())));
    assertThat(made).containsExactlyInAnyOrder(Reason.values());
  }

  @Test
  void conditionsAreMadeOfTheCatalogueOnly() {
    JavaClasses operator =
        new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.fairlead.operator");
    noClasses()
        .that()
        .doNotHaveFullyQualifiedName(ConditionList.class.getName())
        .should()
        .dependOnClassesThat()
        .areAssignableTo(ConditionBuilder.class)
        .orShould()
        .callConstructor(Condition.class)
        .check(operator);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        Finding.INVALID_SPEC,
        Finding.INVALID_POOL_REF,
        Finding.INVALID_EXTENSION_REF,
        Finding.MODEL_NAME_IN_USE,
        Finding.POOL_NOT_FOUND
      })
  void whatTheCompilerRejectsForIsInIt(String reason) {
    assertThat(Reason.of(reason).kind()).isEqualTo(Reason.Kind.WRONG);
  }

  @ParameterizedTest
  @EnumSource
  void everyReasonSaysWhatToDo(Reason reason) {
    assertThat(reason.wireName()).matches("[A-Z][A-Za-z]*");
    assertThat(reason.meaning()).endsWith(".");
    assertThat(reason.step()).endsWith(".");
  }

  /** Without it a command is about another namespace, unless its reader is in the right one. */
  @Test
  void everyCommandInAMessageIsComplete() throws IOException {
    Pattern command = Pattern.compile("kubectl [a-z][^;,`]*");
    Pattern complete =
        Pattern.compile(
            "--namespace |-A\\b|(create|apply) -k |get namespace |get mutatingwebhookconfigurations");
    List<String> commands = new ArrayList<>();
    try (Stream<Path> sources = Files.walk(Path.of("src", "main", "java"))) {
      for (Path source : sources.filter(Files::isRegularFile).toList()) {
        for (String line : Files.readAllLines(source)) {
          command
              .matcher(line.substring(Math.max(0, line.indexOf('"'))))
              .results()
              .map(MatchResult::group)
              .filter(_ -> line.contains("\""))
              .forEach(commands::add);
        }
      }
    }
    assertThat(commands)
        .hasSizeGreaterThan(20)
        .allSatisfy(found -> assertThat(found).containsPattern(complete));
  }

  /** The API server refuses the whole status where there are more, and others may add theirs. */
  @Test
  void anEndpointPickerHasRoomForAllOfThemAndForAsManyOfOthers() throws IOException {
    long ours =
        Arrays.stream(ConditionType.values())
            .filter(type -> List.of(type.kinds().split(", ")).contains("EndpointPicker"))
            .count();
    JsonNode conditions =
        new YAMLMapper()
            .readTree(Path.of("..", "crds", "manifests", "endpointpickers.yaml").toFile())
            .at(
                "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/conditions/maxItems");
    assertThat(conditions.asLong()).isGreaterThanOrEqualTo(2 * ours);
  }

  @Test
  void theDocumentIsTheCatalogue() throws IOException {
    GeneratedPage page =
        new GeneratedPage(
            "Conditions",
            """
            What the operator says of an object stands in its conditions: of an `EndpointPicker`, an `InferenceModel`, an `InferenceObjective` and an `InferenceModelRewrite` in `status.conditions`, of an `InferencePool` in the entry of `status.parents` whose `controllerName` is `fairlead.io/operator` (where the cluster has the kind of upstream's v1.0, which lacks that field: whose `parentRef` is an `EndpointPicker`), or, of the older group, in that of `status.parent` for an `EndpointPicker`.
            Each has a reason from this list, and a message that names the object, the field and the next step.

            Where a condition changes its status or its reason, a Kubernetes Event tells so once, with the condition's reason: `kubectl describe` and `kubectl events` show it. It is a `Warning` where somebody has to do something, else `Normal`. Conditions that come to one reason together are told in one Event. Conditions that become what they should be on the way to `Ready`, or together with it, are not told: `Ready` is. That a pool is full and has room again is told at once the first time, then at most once in ten minutes: what it has come to by then.
            """);
    page.section("Types").table("type", "on", "what it means that it is `True`");
    for (ConditionType type : ConditionType.values()) {
      page.row(GeneratedPage.code(type.wireName()), type.kinds(), type.meaning());
    }
    page.section("Reasons");
    reasons(page, "Somebody has to do something", Reason.Kind.WRONG);
    reasons(page, "Wait", Reason.Kind.PASSING);
    reasons(page, "As it should be", Reason.Kind.GOOD);
    page.section("Warnings without a condition").table("Event", "what is the case", "what to do");
    for (Notice notice : Notice.values()) {
      page.row(GeneratedPage.code(notice.wireName()), notice.meaning(), notice.step());
    }
    page.hold("conditions.md", CatalogueTest.class);
  }

  private static void reasons(GeneratedPage page, String title, Reason.Kind kind) {
    page.paragraph("### " + title).table("reason", "what is the case", "what to do");
    Arrays.stream(Reason.values())
        .filter(reason -> reason.kind() == kind)
        .forEach(
            reason ->
                page.row(GeneratedPage.code(reason.wireName()), reason.meaning(), reason.step()));
  }
}
