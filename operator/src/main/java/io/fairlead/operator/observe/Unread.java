package io.fairlead.operator.observe;

import io.fairlead.operator.status.Verdict;
import java.util.List;
import java.util.Set;

/**
 * What is not known of upstream's kinds in a pool's namespace.
 *
 * @param kinds of which it is not known which objects there are
 * @param problems why those, or others of which then none count, can't be read; none while that may
 *     yet become known
 */
public record Unread(Set<String> kinds, List<Verdict> problems) {
  /** All is known. */
  public static final Unread NOTHING = new Unread(Set.of(), List.of());

  public Unread {
    kinds = Set.copyOf(kinds);
    problems = List.copyOf(problems);
  }
}
