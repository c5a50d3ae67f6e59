package io.fairlead.core;

import io.fairlead.core.Route.Header;
import io.fairlead.plugin.HeaderWriter;
import java.util.ArrayList;
import java.util.List;

/** Headers that plugins set for the current request; the last one of a name counts. */
final class RouteHeaders implements HeaderWriter {

  private final List<Header> request = new ArrayList<>();
  private final List<Header> response = new ArrayList<>();

  List<Header> request() {
    return List.copyOf(request);
  }

  List<Header> response() {
    return List.copyOf(response);
  }

  void clear() {
    request.clear();
    response.clear();
  }

  @Override
  public void request(String name, String value) {
    set(request, name, value);
  }

  @Override
  public void response(String name, String value) {
    set(response, name, value);
  }

  private static void set(List<Header> headers, String name, String value) {
    if (name.isEmpty() || !name.chars().allMatch(RouteHeaders::inName)) {
      throw new IllegalArgumentException("\"" + name + "\" is no lower-case header name");
    }
    if (RESERVED.contains(name)) {
      throw new IllegalArgumentException("header " + name + " is not a plugin's to set");
    }
    if (!value.chars().allMatch(c -> c >= ' ' && c < 0x7f)) {
      throw new IllegalArgumentException("header " + name + " has a value that is not plain ASCII");
    }
    headers.removeIf(header -> header.name().equals(name));
    headers.add(new Header(name, value));
  }

  private static boolean inName(int c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  }
}
