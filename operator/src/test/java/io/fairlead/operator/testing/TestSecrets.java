package io.fairlead.operator.testing;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fairlead.crds.testing.Pem;
import java.util.Map;

/** Secrets as {@code kubectl create secret} makes them. */
public final class TestSecrets {
  private TestSecrets() {}

  /** A certificate and a key of {@link Pem}, in the place of what was there. */
  public static void tls(PoolFixture pool, String name, String certificate, String key) {
    put(pool, name, Map.of("tls.crt", Pem.text(certificate), "tls.key", Pem.text(key)));
  }

  /** Any texts, in the place of what was there. */
  public static void put(PoolFixture pool, String name, Map<String, String> texts) {
    Secret secret =
        new SecretBuilder()
            .withNewMetadata()
            .withName(name)
            .endMetadata()
            .withStringData(texts)
            .build();
    pool.delete(Secret.class, name);
    pool.create(secret);
  }
}
