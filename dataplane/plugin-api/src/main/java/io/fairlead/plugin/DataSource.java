package io.fairlead.plugin;

import java.time.Duration;
import java.util.Map;

/**
 * Reads numbers about endpoints from a page that each of them, or something beside it, serves over
 * HTTP. Listed in a config like any plugin; what it reads is there for every scorer and filter, by
 * {@link Endpoint#metric}.
 *
 * <p>Unlike other plugins it is not called on the pool's loop. {@link #read} is called on a thread
 * of this source's own, one page at a time, and may take its time: an endpoint is not asked again
 * before its last page is read. The other methods are called while endpoints come and must be
 * quick. A page that can't be had, is too long or too late, and whatever a method throws, is a
 * failure: it is counted, and after 5 seconds without a page (or three intervals, if that is
 * longer) what this source said of the endpoint is unknown. Nothing else changes.
 */
public interface DataSource extends Setting {

  /**
   * An endpoint to be asked about.
   *
   * @param name unique in its pool
   * @param address IP address without brackets
   * @param port where it serves inference
   * @param labels of its pod
   */
  record Target(String name, String address, int port, Map<String, String> labels) {

    public Target {
      labels = Map.copyOf(labels);
    }
  }

  /** Path of the page, with a leading slash. */
  String path();

  /** Port of the page, at the endpoint's address; 1 to 65535. */
  default int port(Target endpoint) {
    return endpoint.port();
  }

  /** Time from one look at an endpoint to the next; at least 10 ms. */
  default Duration interval() {
    return Duration.ofSeconds(1);
  }

  /** Longest page that is read, in bytes, at least 1; a longer one is a failure. */
  default int maxBytes() {
    return 1 << 20;
  }

  /**
   * Reads one page, the body of an answer with status 200, in UTF-8. What it does not tell is
   * unknown, also when the page before did.
   */
  void read(Target endpoint, String page, Readings readings);
}
