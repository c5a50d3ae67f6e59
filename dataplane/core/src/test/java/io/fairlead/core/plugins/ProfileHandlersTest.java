package io.fairlead.core.plugins;

import static io.fairlead.core.plugins.Settings.assertRefused;
import static io.fairlead.core.plugins.Settings.make;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.core.view.Peers;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Decider;
import io.fairlead.plugin.InvalidParameterException;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.ProfileHandler;
import io.fairlead.plugin.ProfileResults;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ProfileHandlersTest {

  private static final List<String> BOTH = List.of("prefill", "decode");

  @Test
  void decodeComesFirstAndPrefillOnlyIfTheDeciderAgrees() {
    ProfileHandler agreed = disagg(Map.of(), (request, candidates, index) -> index == 2);
    agreed.profiles(BOTH);
    TestRequest request = new TestRequest(1, 0);
    Results results = new Results(0, 2);
    assertThat(run(agreed, request, results)).containsExactly("decode", "prefill");
    assertThat(agreed.primary(request, results)).isEqualTo(1);
    assertThat(agreed.handOver(0)).isEqualTo("x-prefiller-host-port");
    assertThat(agreed.prefills(0)).isTrue();
    assertThat(agreed.prefills(1)).isFalse();
    assertThat(request.get(Peers.PEER)).isSameAs(results.candidates().get(2));
    assertThat(request.get(Peers.PREFILLER)).isSameAs(results.candidates().get(0));

    assertThat(run(agreed, new TestRequest(1, 0), new Results(0, 1))).containsExactly("decode");
    ProfileHandler undecided = disagg(Map.of(), null);
    undecided.profiles(BOTH);
    assertThat(run(undecided, new TestRequest(1, 0), new Results(0, 2))).containsExactly("decode");
  }

  @Test
  void withoutADecoderNobodyPrefills() {
    ProfileHandler handler = disagg(Map.of(), (request, candidates, index) -> true);
    handler.profiles(BOTH);
    assertThat(run(handler, new TestRequest(1, 0), new Results(0, -1))).containsExactly("decode");
  }

  @Test
  void withoutAPrefillerTheDecoderIsStillPicked() {
    ProfileHandler handler = disagg(Map.of(), (request, candidates, index) -> true);
    handler.profiles(BOTH);
    TestRequest request = new TestRequest(1, 0);
    Results results = new Results(-1, 2);
    assertThat(run(handler, request, results)).containsExactly("decode", "prefill");
    assertThat(handler.primary(request, results)).isEqualTo(1);
    assertThat(request.get(Peers.PREFILLER)).isNull();
  }

  @Test
  void prefillFirstLetsTheDecoderBeChosenNearIt() {
    ProfileHandler handler = disagg(Map.of("stageOrder", "prefill-first"), null);
    handler.profiles(BOTH);
    TestRequest request = new TestRequest(1, 0);
    Results results = new Results(0, 2);
    assertThat(run(handler, request, results)).containsExactly("prefill", "decode");
    assertThat(request.get(Peers.PEER)).isSameAs(results.candidates().get(0));
    assertThat(handler.primary(request, results)).isEqualTo(1);
  }

  @Test
  void prefillProfileMayBeMissingUnlessItIsNamed() {
    ProfileHandler handler = disagg(Map.of(), (request, candidates, index) -> true);
    handler.profiles(List.of("decode"));
    assertThat(run(handler, new TestRequest(1, 0), new Results(0)))
        .as("profiles run")
        .containsExactly("decode");
    assertMissing(disagg(Map.of(), null), List.of("p"), "profiles.decode");
    assertMissing(
        disagg(Map.of("profiles", Map.of("prefill", "p")), null),
        List.of("decode"),
        "profiles.prefill");
  }

  @Test
  void whatDisaggCanNotDoIsRefused() {
    String type = "disagg-profile-handler";
    assertRefused(type, Map.of("stageOrder", "random"), "stageOrder");
    assertRefused(type, Map.of("deciders", Map.of("encode", "d")), "deciders.encode");
    assertRefused(type, Map.of("profiles", Map.of("encode", "e")), "profiles.encode");
    assertRefused(type, Map.of("deciders", Map.of("prefill", "d")), "deciders.prefill");
    assertThatThrownBy(
            () ->
                disagg(Map.of("stageOrder", "prefill-first"), (request, candidates, index) -> true))
        .isInstanceOfSatisfying(
            InvalidParameterException.class,
            e -> assertThat(e.field()).isEqualTo("deciders.prefill"));
  }

  @Test
  void headerNamesTheProfile() {
    ProfileHandler handler = make(ProfileHandler.class, "header-profile-handler");
    handler.profiles(BOTH);
    assertThat(run(handler, withProfile(null), new Results(0, 1))).containsExactly("decode");
    assertThat(run(handler, withProfile(" "), new Results(0, 1))).containsExactly("decode");
    assertThat(run(handler, withProfile(" prefill "), new Results(0, 1)))
        .containsExactly("prefill");
    TestRequest unknown = withProfile("dessert");
    assertThat(run(handler, unknown, new Results(0, 1))).isEmpty();
    assertThat(handler.primary(unknown, new Results(0, 1))).isNegative();
    handler.profiles(List.of("only"));
    assertThat(run(handler, withProfile("dessert"), new Results(0))).containsExactly("decode");
    assertMissing(
        make(ProfileHandler.class, "header-profile-handler"), List.of("a", "b"), "defaultProfile");
  }

  @Test
  void prefixDeciderAsksHowMuchTheDecoderLacks() {
    TestCandidates candidates = new TestCandidates().add(0, 0, 0, 0).add(0, 0, 0, 6);
    // 10 blocks are 160 tokens, of which the second has 96.
    TestRequest request = new TestRequest(1, 10);
    assertThat(prefixDecider(65, 0).disaggregate(request, candidates, 0)).isTrue();
    assertThat(prefixDecider(65, 0).disaggregate(request, candidates, 1)).isFalse();
    assertThat(prefixDecider(64, 0).disaggregate(request, candidates, 1)).isTrue();
    assertThat(prefixDecider(64, 160).disaggregate(request, candidates, 1)).isTrue();
    assertThat(prefixDecider(64, 161).disaggregate(request, candidates, 1)).isFalse();
    assertThat(prefixDecider(161, 0).disaggregate(request, candidates, 0)).isFalse();
    assertThat(prefixDecider(0, 0).disaggregate(request, candidates, 0)).isFalse();
    assertThat(
            make(Decider.class, "always-disagg-pd-decider")
                .disaggregate(new TestRequest(1, 0), candidates, 1))
        .isTrue();
    assertRefused("prefix-based-pd-decider", Map.of("nonCachedTokens", -1L), "nonCachedTokens");
  }

  private static Decider prefixDecider(long nonCached, long prompt) {
    return make(
        Decider.class,
        "prefix-based-pd-decider",
        Map.of("nonCachedTokens", nonCached, "promptTokens", prompt));
  }

  private static ProfileHandler disagg(Map<String, Object> settings, @Nullable Decider decider) {
    Map<String, Object> all = new HashMap<>(settings);
    if (decider != null) {
      all.put("deciders", Map.of("prefill", "d"));
    }
    Parameters parameters = new Parameters(all, name -> name.equals("d") ? decider : null);
    return (ProfileHandler) Settings.factory("disagg-profile-handler").create(parameters);
  }

  private static void assertMissing(ProfileHandler handler, List<String> profiles, String field) {
    assertThatThrownBy(() -> handler.profiles(profiles))
        .isInstanceOfSatisfying(
            InvalidParameterException.class, e -> assertThat(e.field()).isEqualTo(field));
  }

  private static TestRequest withProfile(@Nullable String name) {
    TestRequest request = new TestRequest(1, 0);
    if (name != null) {
      request.headers.put("epp-profile", name);
    }
    return request;
  }

  /** Names of the profiles that ran, in order. */
  private static List<String> run(ProfileHandler handler, TestRequest request, Results results) {
    List<String> ran = new ArrayList<>();
    for (int next = handler.next(request, results);
        next != ProfileHandler.DONE;
        next = handler.next(request, results)) {
      assertThat(results.ran(next)).as("ran twice").isFalse();
      results.ran[next] = true;
      ran.add(results.profileName(next));
    }
    return ran;
  }

  /** Profiles whose picks are known beforehand; -1 for none. */
  private static final class Results implements ProfileResults {

    private final int[] picks;
    private final boolean[] ran;
    private final TestCandidates candidates = TestCandidates.queues(0, 0, 0);

    Results(int... picks) {
      this.picks = picks;
      this.ran = new boolean[picks.length];
    }

    @Override
    public int profileCount() {
      return picks.length;
    }

    @Override
    public String profileName(int profile) {
      return picks.length == 1 && profile == 0 ? "decode" : BOTH.get(profile);
    }

    @Override
    public boolean ran(int profile) {
      return ran[profile];
    }

    @Override
    public boolean succeeded(int profile) {
      return ran[profile] && picks[profile] >= 0;
    }

    @Override
    public int picked(int profile) {
      assertThat(succeeded(profile))
          .as("profile %d of %s", profile, Arrays.toString(picks))
          .isTrue();
      return picks[profile];
    }

    @Override
    public Candidates candidates() {
      return candidates;
    }
  }
}
