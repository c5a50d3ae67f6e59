package io.fairlead.core.flow;

/** What waits somewhere. */
final class Count {

  int requests;
  long bytes;

  /** Expected tokens. */
  double work;

  void add(Waiting request) {
    requests++;
    bytes += request.bytes();
    work += request.work();
  }

  void remove(Waiting request) {
    requests--;
    bytes -= request.bytes();
    // What was added and taken off again may leave a rest.
    work = requests == 0 ? 0 : Math.max(0, work - request.work());
  }
}
