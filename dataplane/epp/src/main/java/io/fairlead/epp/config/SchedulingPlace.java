package io.fairlead.epp.config;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where the scheduling part of a document was written: the compiler names fields by what they are
 * in a {@code SchedulerConfig}, people know them by their place in a file.
 *
 * @param origin the file, or whatever else it came from
 * @param prefix what the paths of its fields begin with, the dot included; may be empty
 */
public record SchedulingPlace(String origin, String prefix) {

  private static final String COMPILED = "scheduler.";
  private static final Pattern SHADOW = Pattern.compile("(shadows\\[\\d+]\\.)scheduler\\.(.*)");
  private static final String PROFILES = "profiles";
  private static final String DETECTOR = "saturationDetector";

  /** Whether the compiler's path is of a field that stands here. */
  boolean holds(String path) {
    return path.startsWith(COMPILED) || SHADOW.matcher(path).matches();
  }

  /** The compiler's path as the file has it. */
  String path(String compiled) {
    Matcher shadow = SHADOW.matcher(compiled);
    return shadow.matches()
        ? shadow.group(1) + field("scheduling.", shadow.group(2))
        : field(prefix, compiled.substring(COMPILED.length()));
  }

  private static String field(String prefix, String field) {
    if (field.startsWith(PROFILES)) {
      return prefix + "schedulingProfiles" + field.substring(PROFILES.length());
    }
    return prefix + (field.equals(DETECTOR) ? DETECTOR + ".pluginRef" : field);
  }
}
