package io.fairlead.operator.observe;

import io.fairlead.operator.status.Verdict;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What is not known of upstream's kinds in a pool's namespace, or of InferenceModels.
 *
 * @param kinds of which it is not known which objects there are
 * @param problems why those, or others of which then none count, can't be read; none while that may
 *     yet become known
 */
public record Unread(Set<String> kinds, List<Verdict> problems) {
  /** All is known. */
  public static final Unread NOTHING = new Unread(Set.of(), List.of());

  /** The same, and which objects there are of this kind is not known either. */
  Unread with(String kind) {
    return new Unread(
        Stream.concat(kinds.stream(), Stream.of(kind)).collect(Collectors.toSet()), problems);
  }

  public Unread {
    kinds = Set.copyOf(kinds);
    problems = List.copyOf(problems);
  }
}
