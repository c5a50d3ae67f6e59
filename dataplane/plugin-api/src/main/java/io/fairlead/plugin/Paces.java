package io.fairlead.plugin;

/** The paces of tokens that requests in flight at one endpoint ask for. */
public interface Paces {

  /** Nobody asks for any. */
  Paces NONE =
      new Paces() {
        @Override
        public int count() {
          return 0;
        }

        @Override
        public double late(double before, double after) {
          return 0;
        }
      };

  /** Requests that ask for a pace. */
  int count();

  /**
   * By how much later than they ask for their tokens come, all together, where each takes {@code
   * after} milliseconds instead of {@code before}. Of each no more counts than the time that it
   * asks for: one that is too late by far loses little with a bit more.
   *
   * @return milliseconds for each token of each of them; 0 or more if {@code after} is the larger
   */
  double late(double before, double after);
}
