package io.fairlead.lab;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

final class LabArchitectureTest {

  @Test
  void workloadsAndTracesKnowNoClockAndNoSocket() {
    noClasses()
        .that()
        .resideInAnyPackage("io.fairlead.lab.workload..", "io.fairlead.lab.trace..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("java.net..", "java.util.concurrent..", "io.netty..")
        .orShould()
        .callMethod(System.class, "nanoTime")
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .check(
            new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("io.fairlead.lab"));
  }
}
