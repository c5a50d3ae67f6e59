package io.fairlead.lab.simulator;

import io.fairlead.lab.document.Fields;
import io.fairlead.stub.engine.EngineProfile;
import io.fairlead.stub.profile.EngineProfiles;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The engines of a pool.
 *
 * @param text what it was read from, e.g. {@code 3xh100-8b+2xl40s-8b}
 * @param engines one profile per endpoint
 * @param sites what each is there for, and where it stands
 * @param link how prompts get from one to another where two serve a request
 */
public record PoolSpec(String text, List<EngineProfile> engines, List<Site> sites, KvLink link) {

  private static final int MOST = 10_000;
  private static final List<String> ROLES = List.of("prefill", "decode", "both");
  private static final Pattern GROUP =
      Pattern.compile("([0-9]{1,5})x([a-z0-9-]+)(?:\\*([0-9.]{1,9}))?(?::(prefill|decode|both))?");

  public PoolSpec {
    engines = List.copyOf(engines);
    sites = List.copyOf(sites);
  }

  /** A pool whose servers each serve all of a request. */
  public PoolSpec(String text, List<EngineProfile> engines) {
    this(text, engines, Collections.nCopies(engines.size(), Site.ANY), KvLink.USUAL);
  }

  /**
   * Reads groups of a count and an engine profile's name, joined by plus signs; {@code *1.4} after
   * a name makes all that these engines do take 1.4 times as long, {@code :prefill}, {@code
   * :decode} or {@code :both} at the end is what they are there for.
   *
   * @throws IllegalArgumentException if it is none; the message says what is expected
   */
  public static PoolSpec parse(String text) {
    return parse(text, EngineProfiles.shipped());
  }

  /** The same of other profiles than those that ship. */
  public static PoolSpec parse(String text, EngineProfiles profiles) {
    List<EngineProfile> engines = new ArrayList<>();
    List<Site> sites = new ArrayList<>();
    for (String group : text.split("\\+", -1)) {
      Matcher parts = GROUP.matcher(group);
      if (!parts.matches()) {
        throw new IllegalArgumentException(
            "pool: \""
                + group
                + "\" is not a count and an engine, as in 8xh100-8b; engines: "
                + String.join(", ", profiles.names()));
      }
      int count = Integer.parseInt(parts.group(1));
      if (count < 1 || engines.size() + count > MOST) {
        throw new IllegalArgumentException(
            "pool: \"" + text + "\" has not between 1 and " + MOST + " engines");
      }
      EngineProfile profile = profiles.named(parts.group(2));
      if (parts.group(3) != null) {
        profile = profile.slowedBy(factor(text, parts.group(3)));
      }
      Site site = parts.group(4) == null ? Site.ANY : new Site(parts.group(4), "");
      for (int i = 0; i < count; i++) {
        engines.add(profile);
        sites.add(site);
      }
    }
    return new PoolSpec(text, engines, sites, KvLink.USUAL);
  }

  /**
   * Reads a YAML document of groups.
   *
   * @param name in reports
   * @param origin where the text is from, for messages
   * @throws IllegalArgumentException if it can't be read; a line per problem, with the field's path
   *     and what helps
   */
  public static PoolSpec read(String name, String origin, String text, EngineProfiles profiles) {
    Fields root = Fields.of(origin, text);
    root.only("a pool", List.of("summary", "servers", "link"));
    root.text("summary");
    KvLink link = link(root);
    List<EngineProfile> engines = new ArrayList<>();
    List<Site> sites = new ArrayList<>();
    for (Fields group : root.list("servers", "{count: 8, engine: h100-8b}")) {
      group.only("a group of servers", List.of("count", "engine", "slower", "role", "rack"));
      int count = group.whole("count", 1, 1);
      String engine = group.text("engine").orElse("");
      double slower = group.positive("slower", 1.0);
      String role = group.text("role").orElse("");
      Site site = new Site(role, group.text("rack").orElse(""));
      if (!role.isEmpty() && !ROLES.contains(role)) {
        group.wrong(
            "role",
            "is %s; set one of %s, or leave it out"
                .formatted(group.shown("role"), String.join(", ", ROLES)));
      }
      if (!profiles.names().contains(engine)) {
        group.wrong(
            "engine",
            "is %s; set one of %s"
                .formatted(group.shown("engine"), String.join(", ", profiles.names())));
      } else if (count > MOST - engines.size()) {
        group.wrong("count", "makes more than " + MOST + " servers; set less");
      } else {
        EngineProfile profile = profiles.named(engine);
        engines.addAll(
            Collections.nCopies(count, slower == 1 ? profile : profile.slowedBy(slower)));
        sites.addAll(Collections.nCopies(count, site));
      }
    }
    root.refuseIfWrong();
    return new PoolSpec(name, engines, sites, link);
  }

  private static KvLink link(Fields root) {
    if (!root.has("link")) {
      return KvLink.USUAL;
    }
    Fields fields = root.object("link");
    fields.only("a link", List.of("bytesPerToken", "gigabytesPerSecond", "millis", "acrossRacks"));
    return KvLink.read(fields);
  }

  /** Whether there are servers whose prompts others compute. */
  public boolean hasRoles() {
    return sites.stream().anyMatch(site -> !site.role().isEmpty());
  }

  private static double factor(String text, String factor) {
    double value;
    try {
      value = Double.parseDouble(factor);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "pool: \"%s\": %s is not a number".formatted(text, factor), e);
    }
    if (!(value > 0)) {
      throw new IllegalArgumentException("pool: \"%s\": %s is not above 0".formatted(text, factor));
    }
    return value;
  }
}
