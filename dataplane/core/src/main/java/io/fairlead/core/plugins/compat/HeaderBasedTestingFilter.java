package io.fairlead.core.plugins.compat;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;

/**
 * Keeps the endpoints that the request header {@code test-epp-endpoint-selection} lists, as
 * addresses with or without a port, separated by commas; none without the header. For conformance
 * tests: it lets the client choose.
 */
final class HeaderBasedTestingFilter implements Filter {

  private static final String HEADER = "test-epp-endpoint-selection";

  @Override
  public void filter(InferenceRequest request, Candidates candidates, boolean[] keep) {
    String header = request.header(HEADER);
    String[] wanted = header == null ? new String[0] : header.split(",", 64);
    int size = candidates.size();
    for (int i = 0; i < size; i++) {
      boolean listed = false;
      for (String entry : wanted) {
        listed |= names(entry.strip(), candidates.get(i));
      }
      keep[i] = listed;
    }
  }

  @Override
  public String keeps() {
    return "endpoints that the header " + HEADER + " lists";
  }

  private static boolean names(String entry, Endpoint endpoint) {
    String address = endpoint.address();
    if (entry.startsWith("[" + address + "]")) {
      return isPort(entry.substring(address.length() + 2), endpoint);
    }
    return entry.startsWith(address) && isPort(entry.substring(address.length()), endpoint);
  }

  private static boolean isPort(String text, Endpoint endpoint) {
    return text.isEmpty() || text.equals(":" + endpoint.port());
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "header-based-testing-filter";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new HeaderBasedTestingFilter();
    }
  }
}
