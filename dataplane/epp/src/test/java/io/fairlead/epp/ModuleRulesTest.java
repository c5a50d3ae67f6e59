package io.fairlead.epp;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.properties.HasOwner;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.fairlead.core.PoolCore;
import org.junit.jupiter.api.Test;

class ModuleRulesTest {

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.fairlead.epp");

  @Test
  void whatFeedsThePoolDoesNotKnowWhoAsksIt() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "io.fairlead.epp.datalayer..",
            "io.fairlead.epp.config..",
            "io.fairlead.epp.status..",
            "io.fairlead.epp.telemetry..",
            "io.fairlead.epp.director..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.fairlead.epp.frontend..")
        .check(CLASSES);
  }

  @Test
  void onlyTheDirectorCallsTheCore() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.fairlead.epp.director..")
        .should()
        .callMethodWhere(
            JavaCall.Predicates.target(
                HasOwner.Predicates.With.owner(JavaClass.Predicates.type(PoolCore.class))))
        .check(CLASSES);
  }

  @Test
  void nothingUsesTheAssembly() {
    classes()
        .that()
        .resideInAPackage("io.fairlead.epp")
        .should()
        .onlyBeAccessed()
        .byAnyPackage("io.fairlead.epp")
        .check(CLASSES);
  }
}
