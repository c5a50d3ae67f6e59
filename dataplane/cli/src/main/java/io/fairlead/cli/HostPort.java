package io.fairlead.cli;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * An address to listen on.
 *
 * @param host name or address, without brackets
 * @param port 0 to 65535
 */
record HostPort(String host, int port) {

  /** Reads {@code HOST:PORT}, IPv6 in brackets. */
  static final class Converter implements ITypeConverter<HostPort> {

    @Override
    public HostPort convert(String text) {
      int colon = text.lastIndexOf(':');
      String host = colon < 0 ? "" : text.substring(0, colon);
      if (host.startsWith("[") && host.endsWith("]")) {
        host = host.substring(1, host.length() - 1);
      }
      try {
        int port = Integer.parseInt(text.substring(colon + 1));
        if (!host.isEmpty() && port >= 0 && port <= 65_535) {
          return new HostPort(host, port);
        }
      } catch (NumberFormatException e) {
        // said below, together with every other way to get it wrong
      }
      throw new TypeConversionException(
          "'" + text + "' is not HOST:PORT, e.g. 127.0.0.1:8000 or [::1]:8000");
    }
  }
}
