package io.fairlead.operator.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.operator.status.Reason;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Reasons that the tests of the running class have seen; classes run one after the other. */
public final class SeenReasons implements BeforeAllCallback, AfterAllCallback {
  private static final Set<String> SEEN = new ConcurrentSkipListSet<>();

  /** To be called for what was computed, or read from the API server. */
  public static void add(String reason) {
    SEEN.add(reason);
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    SEEN.clear();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    Set<String> promised =
        Arrays.stream(context.getRequiredTestClass().getAnnotation(Makes.class).value())
            .map(Reason::wireName)
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(SEEN).as("reasons that the class is said to make").containsAll(promised);
  }
}
