package io.fairlead.core.plugins.session;

import io.fairlead.core.plugins.compat.Texts;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.InvalidParameterException;
import io.fairlead.plugin.Parameters;
import java.util.List;

/** Knows which endpoint a request's session is bound to, and binds it where the request goes. */
sealed interface Sessions permits TokenSessions, IdSessions {

  /** Slot of no endpoint. */
  int NONE = -1;

  /** Slot of the endpoint that the request's session is bound to, or {@link #NONE}. */
  int bound(InferenceRequest request);

  /** Scores candidates of which none is bound: which one the session should be bound to. */
  void scoreUnbound(InferenceRequest request, Candidates candidates, double[] scores);

  /** Whether a request says itself where its session is: nothing is remembered of it here. */
  boolean areKeptByClients();

  void joined(Endpoint endpoint);

  void dispatched(InferenceRequest request, Endpoint endpoint, HeaderWriter headers);

  /**
   * Reads what the session scorer and the session filter have in common.
   *
   * @throws InvalidParameterException if a setting is wrong or means something that is not there
   */
  static Sessions of(Parameters parameters) {
    if (parameters.has("profileName")) {
      throw parameters.invalid(
          "profileName",
          "can't be set: a session is bound to the endpoint that gets the request; remove it");
    }
    String strategy =
        parameters.choice(
            "strategy",
            "encoded_endpoint_header",
            List.of("encoded_endpoint_header", "session_id"));
    Parameters token = parameters.object("encodedEndpointHeaderConfig");
    Parameters id = parameters.object("sessionIdConfig");
    if (strategy.equals("session_id")) {
      if (parameters.has("encodedEndpointHeaderConfig")) {
        throw parameters.invalid(
            "encodedEndpointHeaderConfig", "has no meaning for strategy session_id; remove it");
      }
      return identified(id);
    }
    if (parameters.has("sessionIdConfig")) {
      throw parameters.invalid(
          "sessionIdConfig", "has no meaning for strategy encoded_endpoint_header; remove it");
    }
    return new TokenSessions(Texts.ownHeader(token, "header", "x-session-token"));
  }

  private static IdSessions identified(Parameters parameters) {
    List<String> headers =
        parameters.objects("sources").stream().map(Sessions::sourceHeader).toList();
    parameters.ignored(
        "evictionSweepSeconds", "sessions that are over are dropped with the next request");
    return new IdSessions(
        headers.isEmpty() ? List.of("x-session-id") : headers,
        (long) (1e9 * parameters.number("evictionTtlSeconds", 300, 0, 1e9)),
        parameters.integer("maxSessions", 100_000, 1, 10_000_000));
  }

  private static String sourceHeader(Parameters source) {
    if (source.has("attribute")) {
      throw source.invalid(
          "attribute", "can't be read: there are no attributes of requests; set a header");
    }
    return Texts.requiredHeader(source, "header");
  }
}
