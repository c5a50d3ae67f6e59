package io.fairlead.operator.children;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fairlead.crds.fairlead.v1alpha1.CaptureSpec;
import io.fairlead.crds.fairlead.v1alpha1.ConsoleSpec;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPickerSpec;
import io.fairlead.crds.fairlead.v1alpha1.EndpointTlsSpec;
import io.fairlead.crds.fairlead.v1alpha1.Frontend;
import io.fairlead.crds.fairlead.v1alpha1.SecretKeyRef;
import io.fairlead.crds.fairlead.v1alpha1.TlsSpec;
import io.fairlead.crds.fairlead.v1alpha1.TracingSpec;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a picker is started with because its author wants it: arguments of its command, and the
 * volumes that they speak of.
 */
record PickerOptions(List<String> arguments, List<Volume> volumes, List<VolumeMount> mounts) {

  private static final String TLS = "tls";
  private static final String CAPTURE = "capture";

  /** Key of what pods share, in whichever Secret. */
  static final String HAND_OVER_KEY = "secret";

  private static final String HAND_OVER = "hand-over";
  private static final String HAND_OVER_SECRET = "/etc/fairlead/hand-over";
  private static final String ENDPOINT_CA = "/etc/fairlead/endpoint-ca";
  private static final String CONSOLE_TOKEN = "/etc/fairlead/console";

  /** The server's default: a volume is applied whole, and without it would never match. */
  private static final int READABLE = 0644;

  private static final long KIBI = 1024;
  private static final int USUAL_FILES = 16;
  private static final int USUAL_FILE_MEBIBYTES = 64;

  /** A pair that is written is one of two files each: requests, and what happened to endpoints. */
  private static final int FILES_OF_A_PAIR = 2;

  static PickerOptions of(PickerDesign design) {
    EndpointPickerSpec settings = design.settings();
    PickerOptions options =
        new PickerOptions(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    options.tls(settings.tls());
    options.endpointTls(settings.endpointTls());
    if (design.frontend() == Frontend.GATEWAY) {
      options.allowedOrigins(settings.allowedOrigins());
    }
    options.tracing(settings.tracing());
    options.capture(settings.capture());
    options.handOver(design.handOverSecret());
    options.console(settings.console());
    return options;
  }

  private void tls(@Nullable TlsSpec tls) {
    if (tls == null) {
      return;
    }
    add("--cert-path", "/" + TLS);
    volumes.add(
        new VolumeBuilder()
            .withName(TLS)
            .withNewSecret()
            .withSecretName(tls.secretName())
            .withDefaultMode(READABLE)
            .endSecret()
            .build());
    mounts.add(
        new VolumeMountBuilder().withName(TLS).withMountPath("/" + TLS).withReadOnly(true).build());
  }

  private void endpointTls(@Nullable EndpointTlsSpec tls) {
    if (tls == null) {
      return;
    }
    arguments.add("--endpoint-tls");
    if (tls.isUnverified()) {
      arguments.add("--endpoint-insecure-skip-verify");
      return;
    }
    if (tls.serverName() != null) {
      add("--endpoint-server-name", tls.serverName());
    }
    if (tls.caConfigMap() == null && tls.caSecret() == null) {
      return;
    }
    add("--endpoint-ca-file", ENDPOINT_CA + "/" + Authorities.FILE);
    volumes.add(Authorities.volume("endpoint-ca", tls.caConfigMap(), tls.caSecret()));
    mounts.add(
        new VolumeMountBuilder()
            .withName("endpoint-ca")
            .withMountPath(ENDPOINT_CA)
            .withReadOnly(true)
            .build());
  }

  private void allowedOrigins(@Nullable List<String> origins) {
    if (origins != null) {
      add("--allowed-origins", origins.isEmpty() ? "none" : String.join(",", origins));
    }
  }

  private void tracing(@Nullable TracingSpec tracing) {
    if (tracing == null) {
      return;
    }
    add("--tracing-endpoint", tracing.endpoint());
    if (tracing.samplingPercent() != null) {
      add("--tracing-ratio", share(tracing.samplingPercent()));
    }
  }

  private void capture(@Nullable CaptureSpec capture) {
    if (capture == null) {
      return;
    }
    int files = or(capture.files(), USUAL_FILES);
    int mebibytes = or(capture.fileMebibytes(), USUAL_FILE_MEBIBYTES);
    add("--capture", "/" + CAPTURE);
    add("--capture-files", Integer.toString(files));
    add("--capture-file-size", Integer.toString(mebibytes));
    if (capture.sharePercent() != null) {
      add("--capture-share", share(capture.sharePercent()));
    }
    VolumeMountBuilder mount =
        new VolumeMountBuilder().withName(CAPTURE).withMountPath("/" + CAPTURE);
    if (capture.volumeClaimName() == null) {
      long most = (long) (files + 1) * FILES_OF_A_PAIR * mebibytes;
      volumes.add(
          new VolumeBuilder()
              .withName(CAPTURE)
              .withNewEmptyDir()
              .withSizeLimit(mebibytes(most))
              .endEmptyDir()
              .build());
      mounts.add(mount.build());
    } else {
      volumes.add(
          new VolumeBuilder()
              .withName(CAPTURE)
              .withNewPersistentVolumeClaim()
              .withClaimName(capture.volumeClaimName())
              .endPersistentVolumeClaim()
              .build());
      // A folder is of one process.
      mounts.add(mount.withSubPathExpr("$(POD_NAME)").build());
    }
  }

  private void handOver(@Nullable String secret) {
    if (secret == null) {
      return;
    }
    add("--handover-secret-file", HAND_OVER_SECRET + "/" + HAND_OVER_KEY);
    volumes.add(
        new VolumeBuilder()
            .withName(HAND_OVER)
            .withNewSecret()
            .withSecretName(secret)
            .withDefaultMode(READABLE)
            .addNewItem()
            .withKey(HAND_OVER_KEY)
            .withPath(HAND_OVER_KEY)
            .endItem()
            .endSecret()
            .build());
    mounts.add(
        new VolumeMountBuilder()
            .withName(HAND_OVER)
            .withMountPath(HAND_OVER_SECRET)
            .withReadOnly(true)
            .build());
  }

  private void console(@Nullable ConsoleSpec console) {
    if (console == null || !console.isEnabled()) {
      return;
    }
    arguments.add("--console");
    SecretKeyRef token = console.tokenSecretRef();
    if (token == null || token.name() == null) {
      return;
    }
    add("--console-token-file", CONSOLE_TOKEN + "/token");
    volumes.add(
        new VolumeBuilder()
            .withName("console-token")
            .withNewSecret()
            .withSecretName(token.name())
            // The picker serves without it, and sees it come: a page must not keep a pool down.
            .withOptional(true)
            .withDefaultMode(READABLE)
            .addNewItem()
            .withKey(Children.consoleTokenKey(token))
            .withPath("token")
            .endItem()
            .endSecret()
            .build());
    mounts.add(
        new VolumeMountBuilder()
            .withName("console-token")
            .withMountPath(CONSOLE_TOKEN)
            .withReadOnly(true)
            .build());
  }

  private void add(String option, @Nullable String value) {
    arguments.add(option);
    arguments.add(String.valueOf(value));
  }

  private static String share(int percent) {
    return BigDecimal.valueOf(percent, 2).stripTrailingZeros().toPlainString();
  }

  /** As the API server writes it: what it writes otherwise would be applied again and again. */
  private static Quantity mebibytes(long count) {
    return count % KIBI != 0
        ? new Quantity(count + "Mi")
        : count % (KIBI * KIBI) != 0
            ? new Quantity(count / KIBI + "Gi")
            : new Quantity(count / (KIBI * KIBI) + "Ti");
  }

  private static int or(@Nullable Integer number, int usual) {
    return number == null ? usual : number;
  }
}
