package io.fairlead.stub.engine;

import java.util.List;

/** The profiles that ship: coefficients fitted to published timings of kernels. */
final class Presets {

  static final List<EngineProfile> ALL =
      List.of(
          preset("h100-8b", 3.86, 0.01836, 8.19e-7, 6.40, 0.0108, 4.13e-5, 420_000, 8_192),
          preset("h100-8b-fp8", 3.21, 0.01365, 7.93e-7, 4.40, 0.0118, 4.12e-5, 420_000, 8_192),
          preset("a100-8b", 7.75, 0.05474, 2.95e-6, 11.5, 0.0368, 8.21e-5, 430_000, 8_192),
          preset("l40s-8b", 13.5, 0.05996, 3.10e-6, 22.2, 0.0394, 1.85e-4, 190_000, 2_048),
          preset("l4-8b", 40, 0.18, 9e-6, 64, 0.12, 5.3e-4, 34_000, 2_048),
          preset("h100x2-32b", 9.63, 0.04595, 1.67e-6, 13.6, 0.0247, 4.22e-5, 307_328, 8_192),
          preset("h100x4-70b", 9.10, 0.05870, 1.03e-6, 15.2, 0.0330, 2.64e-5, 400_000, 8_192),
          // The size of its KV cache is an estimate: what weights and activations leave free of
          // eight
          // times 141 GB, at 70 kB a token, which every GPU holds in full.
          preset(
              "h200x8-deepseek-v3", 38.5, 0.04263, 7.9e-7, 16.7, 0.120, 1.21e-5, 500_000, 8_192));

  private Presets() {}

  static EngineProfile named(String name) {
    for (EngineProfile profile : ALL) {
      if (profile.name().equals(name)) {
        return profile;
      }
    }
    throw new IllegalArgumentException(
        "profile: no engine profile \""
            + name
            + "\"; known: "
            + String.join(", ", EngineProfile.names()));
  }

  private static EngineProfile preset(
      String name,
      double a,
      double b,
      double c,
      double d0,
      double d1,
      double d2,
      int kvTokens,
      int maxBatchedTokens) {
    return new EngineProfile(name, a, b, c, d0, d1, d2, kvTokens, 16, maxBatchedTokens, 256);
  }
}
