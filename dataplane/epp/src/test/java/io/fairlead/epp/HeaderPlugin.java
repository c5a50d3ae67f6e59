package io.fairlead.epp;

import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.List;
import java.util.Map;

/** Sets a header of the request, one of the response, and shows the request's {@code x-team}. */
public final class HeaderPlugin implements Observer {

  /** Only this plugin. */
  public static final SchedulerConfig ALONE =
      new SchedulerConfig(
          List.of(
              new PluginConfig("headers", "headers", Map.of()),
              new PluginConfig(
                  "picker", "max-score-picker", Map.of("maxNumOfEndpoints", (Object) 3L))),
          List.of(),
          null);

  @Override
  public void dispatched(InferenceRequest request, Endpoint endpoint, HeaderWriter headers) {
    headers.request("x-prefiller-host-port", "10.9.9.9:1");
    headers.request("x-team-seen", String.valueOf(request.header("x-team")));
    headers.response("x-session-token", "token-of-" + endpoint.name());
  }

  /** Makes it. */
  public static final class Factory implements PluginFactory {
    @Override
    public String type() {
      return "headers";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new HeaderPlugin();
    }
  }
}
