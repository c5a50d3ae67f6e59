package io.fairlead.stub;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

final class ArchitectureTest {

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.fairlead.stub");

  @Test
  void engineIsPure() {
    noClasses()
        .that()
        .resideInAPackage("io.fairlead.stub.engine..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.netty..",
            "io.fairlead.stub.server..",
            "com.fasterxml..",
            "org.slf4j..",
            "java.io..",
            "java.net..",
            "java.nio..",
            "java.time..",
            "java.util.concurrent..",
            "java.util.random..")
        .check(CLASSES);
  }

  @Test
  void engineReadsNoClockAndStartsNoThread() {
    noClasses()
        .that()
        .resideInAPackage("io.fairlead.stub.engine..")
        .should()
        .callMethod(System.class, "nanoTime")
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(Math.class, "random")
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(Thread.class)
        .check(CLASSES);
  }
}
