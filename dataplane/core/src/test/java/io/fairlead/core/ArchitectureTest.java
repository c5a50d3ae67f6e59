package io.fairlead.core;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import io.fairlead.plugin.Adapters;
import io.fairlead.plugin.Candidates;
import java.lang.reflect.Method;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The core decides; it does no I/O, has no thread, no clock and no chance of its own. */
class ArchitectureTest {

  private static final String[] JDK = {
    "", // primitives and their arrays
    "java.io",
    "java.lang",
    "java.lang.annotation",
    "java.lang.invoke",
    "java.lang.runtime",
    "java.nio.charset",
    "java.util",
    "java.util.function",
    "java.util.regex",
    "java.util.stream",
    "org.jspecify.annotations"
  };

  private static final String PLUGINS = "io.fairlead.core.plugins";

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.fairlead.core", "io.fairlead.plugin");

  @Test
  void theCoreDependsOnThePluginApiTheConfigDocumentAndAHash() {
    classes()
        .that()
        .resideInAPackage("io.fairlead.core..")
        .should()
        .onlyDependOnClassesThat(
            pure(
                "io.fairlead.core..",
                "io.fairlead.plugin",
                "io.fairlead.crds.config",
                "com.dynatrace.hash4j.hashing"))
        .check(CLASSES);
  }

  @Test
  void thePluginApiDependsOnTheJdk() {
    classes()
        .that()
        .resideInAPackage("io.fairlead.plugin")
        .should()
        .onlyDependOnClassesThat(pure("io.fairlead.plugin"))
        .check(CLASSES);
  }

  @Test
  void thePluginApiKnowsNothingOfPlacesSlotsAndColumns() {
    assertThat(Arrays.stream(Candidates.class.getMethods()).map(Method::getName))
        .containsExactlyInAnyOrder("size", "get", "matchedBlocks", "cachedTokens");
    noMethods()
        .that()
        .areDeclaredInClassesThat()
        .resideInAPackage("io.fairlead.plugin")
        .and()
        .areDeclaredInClassesThat()
        .doNotBelongToAnyOf(Adapters.class)
        .should()
        .haveNameMatching("(?i).*(place|slot|column).*")
        .check(CLASSES);
  }

  @Test
  void builtInPluginsSeeOfTheCoreItsViewAndOfOneAnotherWhatDocumentsMeanAndHowToLearn() {
    classes()
        .that()
        .resideInAPackage(PLUGINS + ".*")
        .should()
        .onlyDependOnClassesThat(
            pure(
                "io.fairlead.plugin",
                "io.fairlead.core.view",
                PLUGINS + ".*",
                "com.dynatrace.hash4j.hashing"))
        .check(CLASSES);
    SlicesRuleDefinition.slices()
        .matching(PLUGINS + ".(*)")
        .should()
        .notDependOnEachOther()
        .ignoreDependency(
            DescribedPredicate.alwaysTrue(),
            JavaClass.Predicates.resideInAnyPackage(PLUGINS + ".compat", PLUGINS + ".learn"))
        .check(CLASSES);
  }

  @Test
  void theViewKnowsNothingOfWhoLooks() {
    classes()
        .that()
        .resideInAPackage("io.fairlead.core.view")
        .should()
        .onlyDependOnClassesThat(pure("io.fairlead.plugin", "io.fairlead.core.view"))
        .check(CLASSES);
  }

  @Test
  void nothingReadsAClockStartsAThreadOrDrawsLots() {
    noClasses()
        .should()
        .callMethod(System.class, "nanoTime")
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(System.class, "getLogger", String.class)
        .orShould()
        .callMethod(Math.class, "random")
        .orShould()
        .accessField(System.class, "out")
        .orShould()
        .accessField(System.class, "err")
        .orShould()
        .dependOnClassesThat()
        .belongToAnyOf(
            Thread.class,
            ThreadLocal.class,
            java.util.Random.class,
            java.util.SplittableRandom.class,
            java.util.Timer.class,
            java.util.ServiceLoader.class)
        .check(CLASSES);
  }

  /** Own packages, and of the JDK what does no I/O, has no thread and reads no clock. */
  private static DescribedPredicate<JavaClass> pure(String... own) {
    return JavaClass.Predicates.resideInAnyPackage(own)
        .or(JavaClass.Predicates.resideInAnyPackage(JDK))
        .or(JavaClass.Predicates.belongToAnyOf(Duration.class, ByteOrder.class));
  }
}
