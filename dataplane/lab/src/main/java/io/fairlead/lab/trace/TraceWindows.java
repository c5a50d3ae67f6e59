package io.fairlead.lab.trace;

import io.fairlead.lab.workload.ServedModel;
import io.fairlead.lab.workload.Traffic;
import io.fairlead.lab.workload.Workload;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/**
 * A trace whose seeds are windows of it.
 *
 * @param windowNanos how long each is, in the trace's own time; shorter than the trace
 */
record TraceWindows(TraceWorkload trace, long windowNanos) implements Workload {

  @Override
  public String name() {
    return trace.name();
  }

  @Override
  public List<ServedModel> models() {
    return trace.models();
  }

  @Override
  public Traffic start(long seed) {
    // The last request would come together with the first of the next round: without one more
    // nanosecond no window would hold it.
    long round = trace.lengthNanos() + 1;
    long from =
        BigInteger.valueOf(seed - 1)
            .multiply(BigInteger.valueOf(windowNanos))
            .mod(BigInteger.valueOf(round))
            .longValueExact();
    List<TraceRequest> asked = new ArrayList<>();
    long untilEnd = Math.min(from + windowNanos, round);
    for (TraceRequest request : trace.between(from, untilEnd)) {
      asked.add(request.at(request.atNanos() - from));
    }
    for (TraceRequest request : trace.between(0, from + windowNanos - untilEnd)) {
      asked.add(request.at(request.atNanos() + untilEnd - from));
    }
    return trace.traffic(asked);
  }
}
