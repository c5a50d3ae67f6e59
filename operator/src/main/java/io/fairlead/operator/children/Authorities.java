package io.fairlead.operator.children;

import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fairlead.crds.tls.CertificateAuthorities;
import org.jspecify.annotations.Nullable;

/** The authorities that a picker holds others' certificates against, as a file of its pods. */
final class Authorities {

  /** Name of the file, and the key that holds it. */
  static final String FILE = CertificateAuthorities.KEY;

  private static final int READ_ONLY = 0444;

  private Authorities() {}

  /**
   * The volume with the file, and no other key of a Secret. Where the file is missing the picker's
   * container runs nevertheless, and its log says so: a pod that waits for a volume says less.
   *
   * @param configMap that holds it; null for a Secret
   * @param secret that holds it, without a ConfigMap
   */
  static Volume volume(String name, @Nullable String configMap, @Nullable String secret) {
    VolumeBuilder volume = new VolumeBuilder().withName(name);
    return configMap != null
        ? volume
            .withNewConfigMap()
            .withName(configMap)
            .withOptional(true)
            .withDefaultMode(READ_ONLY)
            .addNewItem()
            .withKey(FILE)
            .withPath(FILE)
            .endItem()
            .endConfigMap()
            .build()
        : volume
            .withNewSecret()
            .withSecretName(secret)
            .withOptional(true)
            .withDefaultMode(READ_ONLY)
            .addNewItem()
            .withKey(FILE)
            .withPath(FILE)
            .endItem()
            .endSecret()
            .build();
  }
}
