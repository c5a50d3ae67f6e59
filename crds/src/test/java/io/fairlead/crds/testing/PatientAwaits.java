package io.fairlead.crds.testing;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * What is awaited may take as long as it does on a machine that runs several such tests at once; a
 * test that passes takes no longer for it. For every class of a module whose
 * junit-platform.properties have extensions detected, also after one that has set another.
 */
public final class PatientAwaits implements BeforeAllCallback {

  @Override
  public void beforeAll(ExtensionContext context) {
    Awaitility.setDefaultTimeout(Duration.ofSeconds(30));
  }
}
