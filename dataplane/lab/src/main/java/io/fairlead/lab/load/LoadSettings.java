package io.fairlead.lab.load;

import java.time.Duration;
import java.util.function.UnaryOperator;

/**
 * How requests are sent.
 *
 * @param timeout longest wait for a whole answer
 * @param speed seconds of the workload in one second, above 0
 * @param streamShare share of requests that ask for a stream, 0 to 1
 * @param ignoreEos whether to ask for answers of exactly their length, in the way of vLLM and
 *     SGLang; servers that don't know the field may refuse it
 * @param models from the workload's names of models to the server's
 */
public record LoadSettings(
    Duration timeout,
    double speed,
    double streamShare,
    boolean ignoreEos,
    UnaryOperator<String> models) {

  public LoadSettings {
    if (!(speed > 0) || speed == Double.POSITIVE_INFINITY) {
      throw new IllegalArgumentException("speed is " + speed + "; set a number above 0");
    }
    if (!(streamShare >= 0 && streamShare <= 1)) {
      throw new IllegalArgumentException("streamShare is " + streamShare + "; set 0 to 1");
    }
  }

  /** In real time, half of them streamed, answers as long as the model makes them. */
  public static LoadSettings mixed(Duration timeout) {
    return new LoadSettings(timeout, 1, 0.5, false, UnaryOperator.identity());
  }
}
