package io.fairlead.core.receipt;

import java.util.List;
import java.util.stream.Stream;

/** Gives numbers to the few things that decisions name over and over, so that a word can. */
final class Vocabulary {

  private List<Object> known = List.of();

  int number(Object thing) {
    int number = known.indexOf(thing);
    if (number >= 0) {
      return number;
    }
    known = Stream.concat(known.stream(), Stream.of(thing)).toList();
    return known.size() - 1;
  }

  /** What is known, by number. Never changes. */
  List<Object> known() {
    return known;
  }
}
