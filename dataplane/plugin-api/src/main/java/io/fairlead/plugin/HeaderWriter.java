package io.fairlead.plugin;

import java.util.Set;

/**
 * Takes headers from plugins. Names are lower case. What is no header name, a value that is not
 * printable ASCII, or one of the {@link #RESERVED} names is refused with an {@link
 * IllegalArgumentException}.
 */
public interface HeaderWriter {

  /** Names that say how a message is framed and where it goes: no plugin's to set. */
  Set<String> RESERVED =
      Set.of(
          "connection",
          "content-length",
          "host",
          "keep-alive",
          "proxy-connection",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade");

  /** Sets a header of the request as the model server gets it. */
  void request(String name, String value);

  /** Sets a header of the response as the client gets it. */
  void response(String name, String value);
}
