package io.fairlead.cli;

import picocli.CommandLine.IVersionProvider;

/** Version from the jar's manifest. */
final class Version implements IVersionProvider {

  @Override
  public String[] getVersion() {
    String version = Fairlead.class.getPackage().getImplementationVersion();
    return new String[] {"fairlead " + (version == null ? "(not packaged)" : version)};
  }
}
