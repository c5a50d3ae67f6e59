package io.fairlead.operator.testing;

import io.fairlead.operator.status.Reason;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The tests of the class bring these reasons of conditions about. One that was not seen by the end
 * of the class fails it; one that no class names fails {@code CatalogueTest}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(SeenReasons.class)
public @interface Makes {
  /** Reasons that are seen when all of the class's tests have run. */
  Reason[] value();
}
