package io.fairlead.plugin;

/** Takes headers from plugins. Names are lower case. */
public interface HeaderWriter {

  /** Sets a header of the request as the model server gets it. */
  void request(String name, String value);

  /** Sets a header of the response as the client gets it. */
  void response(String name, String value);
}
