package io.fairlead.operator;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ArchitectureTest {
  private static final JavaClasses OPERATOR =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.fairlead.operator");

  @Test
  void whatDecidesSeesNoClientAndNoFramework() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "io.fairlead.operator.children..",
            "io.fairlead.operator.status..",
            "io.fairlead.operator.desire..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.fabric8.kubernetes.client..", "io.javaoperatorsdk..", "java.net..", "java.time")
        .check(withoutTimes());
  }

  /** Times come with what is judged: conditions are handed one, nodes say when something ended. */
  private static JavaClasses withoutTimes() {
    return OPERATOR.that(
        com.tngtech.archunit.base.DescribedPredicate.describe(
            "all but ConditionList and Rollout",
            c -> !Set.of("ConditionList", "Rollout").contains(c.getSimpleName())));
  }

  @Test
  void statusAndChildrenKnowNothingOfTheirCallers() {
    noClasses()
        .that()
        .resideInAnyPackage("io.fairlead.operator.children..", "io.fairlead.operator.status..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.fairlead.operator.observe..",
            "io.fairlead.operator.apply..",
            "io.fairlead.operator.desire..",
            "io.fairlead.operator.reconcile..")
        .check(OPERATOR);
  }

  @Test
  void nothingReachesIntoTheDataPlane() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.fairlead.core..", "io.fairlead.epp..", "io.fairlead.plugin..")
        .check(OPERATOR);
  }
}
