package io.fairlead.core.plugins.disagg;

import io.fairlead.core.Route;
import io.fairlead.core.view.Memo;
import io.fairlead.core.view.Peers;
import io.fairlead.core.view.Stage;
import io.fairlead.plugin.Assigner;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Decider;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.EndpointAttributes;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.InvalidParameterException;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.ProfileHandler;
import io.fairlead.plugin.ProfileResults;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Serves a request with two endpoints: one computes the prompt, the other decodes and gets the
 * request, with the first one's address in the header {@code x-prefiller-host-port}. {@code
 * decode-first} (the default) picks the decoding endpoint, asks the decider whether a second one is
 * worth it, and if so picks that; without a decider it never is. {@code prefill-first} always picks
 * both.
 *
 * <p>Where a prompt should be computed elsewhere but nobody is there for it, the decoding endpoint
 * computes it: slow beats failed. Upstream refuses the request then.
 *
 * <p>Also an assigner, used when none is listed: each profile sees only endpoints whose role
 * includes its stage, as soon as any candidate has a role at all.
 */
final class DisaggProfileHandler implements ProfileHandler, Assigner {

  private static final int ABSENT = -1;

  private static final long DECODERS = Role.partitions(Role::decodes);
  private static final long PREFILLERS = Role.partitions(Role::prefills);
  private static final long LABELLED = Role.partitions(role -> role != Role.UNLABELLED);

  private final Memo<EndpointAttributes, Boolean> prefills =
      Memo.ofAttributes(attributes -> Role.of(attributes).prefills());
  private final boolean prefillFirst;
  private final Settings settings;
  private final @Nullable Decider decider;
  private final PrefilledElsewhere prefilledElsewhere = new PrefilledElsewhere();
  private final PromptAlone promptAlone = new PromptAlone();
  private int decode = ABSENT;
  private int prefill = ABSENT;

  /** Of who computes the prompt. */
  private static final class PromptAlone implements Stage {

    private int lacking;

    @Override
    public boolean promptAlone() {
      return true;
    }

    @Override
    public int lacking() {
      return lacking;
    }
  }

  /** Of the endpoint that decodes: its prompt is computed where that was decided, or will be. */
  private final class PrefilledElsewhere implements Stage {

    /** While it is open who computes the prompt. */
    private @Nullable Candidates candidates;

    /** Whether some have roles: else anybody computes prompts. */
    private boolean labelled;

    @Override
    public boolean promptElsewhere(InferenceRequest request, Candidates among, int index) {
      return candidates == null || (decider != null && decider.disaggregate(request, among, index));
    }

    @Override
    public @Nullable Candidates prefillers() {
      return candidates;
    }

    @Override
    public boolean prefills(int index) {
      return !labelled || (candidates != null && prefills.of(candidates.get(index)));
    }
  }

  record Settings(String decodeProfile, String prefillProfile, boolean prefillRequired) {}

  DisaggProfileHandler(boolean prefillFirst, Settings settings, @Nullable Decider decider) {
    this.prefillFirst = prefillFirst;
    this.settings = settings;
    this.decider = decider;
  }

  @Override
  public void profiles(List<String> names) {
    decode = names.indexOf(settings.decodeProfile());
    prefill = names.indexOf(settings.prefillProfile());
    if (decode == ABSENT) {
      throw missing("profiles.decode", settings.decodeProfile(), names);
    }
    if (prefill == ABSENT && settings.prefillRequired()) {
      throw missing("profiles.prefill", settings.prefillProfile(), names);
    }
  }

  private static InvalidParameterException missing(String field, String name, List<String> names) {
    return new InvalidParameterException(
        field, "\"" + name + "\" is no profile; set one of " + String.join(", ", names));
  }

  @Override
  public int next(InferenceRequest request, ProfileResults results) {
    if (prefillFirst) {
      return nextPrefillFirst(request, results);
    }
    if (!results.ran(decode)) {
      if (prefill != ABSENT && decider != null) {
        prefilledElsewhere.candidates = results.candidates();
        prefilledElsewhere.labelled = false;
        request.cycle().put(Peers.STAGE, prefilledElsewhere);
      }
      return decode;
    }
    if (prefill == ABSENT || !results.succeeded(decode)) {
      return DONE;
    }
    if (results.ran(prefill)) {
      note(request, results);
      return DONE;
    }
    int picked = results.picked(decode);
    if (decider == null || !decider.disaggregate(request, results.candidates(), picked)) {
      return DONE;
    }
    request.cycle().put(Peers.PEER, results.candidates().get(picked));
    promptAlone.lacking = request.promptTokens() - results.candidates().cachedTokens(picked);
    request.cycle().put(Peers.STAGE, promptAlone);
    return prefill;
  }

  private int nextPrefillFirst(InferenceRequest request, ProfileResults results) {
    if (results.ran(decode)) {
      return DONE;
    }
    if (prefill != ABSENT && !results.ran(prefill)) {
      promptAlone.lacking = 0;
      request.cycle().put(Peers.STAGE, promptAlone);
      return prefill;
    }
    if (prefill != ABSENT) {
      boolean found = results.succeeded(prefill);
      prefilledElsewhere.candidates = null;
      request.cycle().put(Peers.STAGE, found ? prefilledElsewhere : Stage.WHOLE);
      note(request, results);
    }
    return decode;
  }

  /** Notes who computes the prompt, for the next profile and for observers. */
  private void note(InferenceRequest request, ProfileResults results) {
    if (results.succeeded(prefill)) {
      Endpoint prefiller = results.candidates().get(results.picked(prefill));
      request.cycle().put(Peers.PREFILLER, prefiller);
      if (prefillFirst) {
        request.cycle().put(Peers.PEER, prefiller);
      }
    }
  }

  @Override
  public int primary(InferenceRequest request, ProfileResults results) {
    return decode;
  }

  @Override
  public @Nullable String handOver(int profile) {
    return profile == prefill ? Route.PREFILLER_HEADER : null;
  }

  @Override
  public boolean prefills(int profile) {
    return profile == prefill;
  }

  @Override
  public int partition(Endpoint endpoint) {
    return Role.of(endpoint.attributes()).partition();
  }

  @Override
  public long allowed(InferenceRequest request, String profile, long present) {
    boolean labelled = (present & LABELLED) != 0;
    prefilledElsewhere.labelled = labelled;
    if (labelled && (present & PREFILLERS) == 0) {
      request.cycle().put(Peers.STAGE, Stage.WHOLE); // nobody is there to compute it elsewhere
    }
    if (labelled && profile.equals(settings.decodeProfile())) {
      return DECODERS;
    }
    return labelled && profile.equals(settings.prefillProfile()) ? PREFILLERS : -1;
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "disagg-profile-handler";
    }

    @Override
    public Plugin create(Parameters parameters) {
      boolean prefillFirst = prefillFirst(parameters);
      Parameters deciders = parameters.object("deciders");
      Parameters profiles = parameters.object("profiles");
      refuseEncode(deciders);
      refuseEncode(profiles);
      Decider decider = deciders.plugin("prefill", Decider.class);
      if (prefillFirst && decider != null) {
        throw deciders.invalid(
            "prefill", "is not asked when prefill comes first; remove it, or set decode-first");
      }
      Settings settings =
          new Settings(
              profiles.text("decode", "decode"),
              profiles.text("prefill", "prefill"),
              profiles.has("prefill"));
      return new DisaggProfileHandler(prefillFirst, settings, decider);
    }

    private static boolean prefillFirst(Parameters parameters) {
      String order = parameters.text("stageOrder", "decode-first");
      return switch (order.toLowerCase(Locale.ROOT).replaceAll("[-_]", "")) {
        case "decodefirst", "decode" -> false;
        case "prefillfirst", "prefill" -> true;
        default ->
            throw parameters.invalid(
                "stageOrder", "is \"" + order + "\"; set decode-first or prefill-first");
      };
    }

    private static void refuseEncode(Parameters parameters) {
      if (parameters.has("encode")) {
        throw parameters.invalid("encode", "can't be set: there is no encode stage; remove it");
      }
    }
  }
}
