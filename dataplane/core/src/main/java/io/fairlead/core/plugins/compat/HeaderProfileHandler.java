package io.fairlead.core.plugins.compat;

import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.InvalidParameterException;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.ProfileHandler;
import io.fairlead.plugin.ProfileResults;
import java.util.List;

/**
 * Runs the one profile that the request header {@code headerName} names, {@code defaultProfile}
 * without the header. A name that is no profile's gets no endpoint. With one profile that runs
 * whatever the header says.
 */
final class HeaderProfileHandler implements ProfileHandler {

  private final String headerName;
  private final String defaultProfile;
  private List<String> profiles = List.of();

  HeaderProfileHandler(String headerName, String defaultProfile) {
    this.headerName = headerName;
    this.defaultProfile = defaultProfile;
  }

  @Override
  public void profiles(List<String> names) {
    if (names.size() > 1 && !names.contains(defaultProfile)) {
      throw new InvalidParameterException(
          "defaultProfile",
          "\"" + defaultProfile + "\" is no profile; set one of " + String.join(", ", names));
    }
    profiles = List.copyOf(names);
  }

  @Override
  public int next(InferenceRequest request, ProfileResults results) {
    int wanted = primary(request, results);
    return wanted < 0 || results.ran(wanted) ? DONE : wanted;
  }

  @Override
  public int primary(InferenceRequest request, ProfileResults results) {
    if (profiles.size() == 1) {
      return 0;
    }
    String header = request.header(headerName);
    return profiles.indexOf(header == null || header.isBlank() ? defaultProfile : header.strip());
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "header-profile-handler";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new HeaderProfileHandler(
          Texts.header(parameters, "headerName", "EPP-Profile"),
          parameters.text("defaultProfile", "decode"));
    }
  }
}
