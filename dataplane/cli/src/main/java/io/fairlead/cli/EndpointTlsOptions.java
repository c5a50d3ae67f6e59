package io.fairlead.cli;

import io.fairlead.epp.tls.EndpointSecurity;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** How endpoints are spoken to, which an InferencePool has no field for. */
final class EndpointTlsOptions {

  @Option(
      names = "--endpoint-tls",
      paramLabel = "true|false",
      arity = "0..1",
      fallbackValue = "true",
      converter = GoBoolean.class,
      description =
          "Speak to endpoints over TLS: probes, metrics, and requests and lists of models through"
              + " the gateway.",
      defaultValue = "false")
  private boolean tls;

  @Option(
      names = "--endpoint-ca-file",
      paramLabel = "FILE",
      description =
          "With --endpoint-tls: PEM file of the authorities whose certificates count, instead of"
              + " the machine's.")
  private @Nullable Path authorities;

  @Option(
      names = "--endpoint-server-name",
      paramLabel = "NAME",
      description =
          "With --endpoint-tls: the name that certificates must be for, instead of each endpoint's"
              + " address.")
  private @Nullable String name;

  @Option(
      names = "--endpoint-insecure-skip-verify",
      paramLabel = "true|false",
      arity = "0..1",
      fallbackValue = "true",
      converter = GoBoolean.class,
      description = "With --endpoint-tls: take any certificate.",
      defaultValue = "false")
  private boolean skipVerify;

  @Spec(Target.MIXEE)
  private CommandSpec spec = CommandSpec.create();

  /**
   * What was asked for.
   *
   * @throws ParameterException if that makes no sense
   */
  EndpointSecurity security() {
    if (!tls) {
      refuseIf(authorities != null, "--endpoint-ca-file needs --endpoint-tls");
      refuseIf(name != null, "--endpoint-server-name needs --endpoint-tls");
      refuseIf(skipVerify, "--endpoint-insecure-skip-verify needs --endpoint-tls");
      return new EndpointSecurity.PlainText();
    }
    if (skipVerify) {
      refuseIf(
          authorities != null || name != null,
          "--endpoint-insecure-skip-verify takes any certificate: it goes without"
              + " --endpoint-ca-file and --endpoint-server-name");
      return new EndpointSecurity.Unverified();
    }
    return new EndpointSecurity.Verified(authorities, name);
  }

  private void refuseIf(boolean wrong, String message) {
    if (wrong) {
      throw new ParameterException(spec.commandLine(), message);
    }
  }
}
