package io.fairlead.epp.frontend.extproc;

import io.fairlead.epp.memory.IncomingBody;
import io.fairlead.epp.openai.ModelSplice;
import io.fairlead.epp.openai.ParsedRequest;

/**
 * A request's body that is whole and read.
 *
 * @param bytes charged to the budget until they are released
 * @param read what it says
 */
record WholeBody(IncomingBody bytes, ParsedRequest read) {

  /** Whether it asks for that model as it is. */
  boolean asksFor(String targetModel) {
    return targetModel.isEmpty() || targetModel.equals(read.model());
  }

  /** The body as the endpoint is to get it. */
  RequestBody askingFor(String targetModel) {
    return new RequestBody(ModelSplice.splice(bytes.bytes(), read, targetModel));
  }

  int length() {
    return bytes.length();
  }

  /** A message with all of it is on its way, and takes as much. */
  void handOver() {
    bytes.handOver();
  }

  void release() {
    bytes.release();
  }
}
