package io.fairlead.crds;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

final class ArchitectureTest {
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.fairlead.crds");

  @Test
  void configIsPlain() {
    classes()
        .that()
        .resideInAPackage("io.fairlead.crds.config..")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("java..", "org.jspecify..", "io.fairlead.crds.config..")
        .check(CLASSES);
  }

  @Test
  void nothingTalksToACluster() {
    noClasses()
        .that()
        .resideInAnyPackage("io.fairlead.crds.compile..", "io.fairlead.crds.document..")
        .should()
        .dependOnClassesThat()
        .haveSimpleName("KubernetesClient")
        .orShould()
        .dependOnClassesThat()
        .resideInAnyPackage("java.net..", "java.nio.file..")
        .check(CLASSES);
  }
}
