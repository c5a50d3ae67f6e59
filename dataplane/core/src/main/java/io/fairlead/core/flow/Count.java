package io.fairlead.core.flow;

/** What waits somewhere. */
final class Count {

  int requests;
  long bytes;

  void add(Waiting request) {
    requests++;
    bytes += request.bytes();
  }

  void remove(Waiting request) {
    requests--;
    bytes -= request.bytes();
  }
}
