package io.fairlead.crds.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.stream.Collectors;

/** What somebody may have meant by a name that nobody knows. */
public final class Spelling {
  private static final int FAR = 16;
  private static final int MOST = 3;

  private Spelling() {}

  /** The known names most like it, joined by "or"; empty when none is. */
  public static String near(String name, Collection<String> known) {
    return known.stream()
        .filter(other -> distance(name, other) <= Math.max(2, other.length() / 4))
        .sorted(Comparator.comparingInt(other -> distance(name, other)))
        .limit(MOST)
        .collect(Collectors.joining(" or "));
  }

  /** Characters to insert, remove or replace to get from one to the other. */
  private static int distance(String a, String b) {
    if (Math.abs(a.length() - b.length()) > FAR) {
      return FAR;
    }
    int[] row = new int[b.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
