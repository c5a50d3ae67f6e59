package io.fairlead.lab.faults;

import java.io.IOException;
import java.net.URI;

/** A way for requests to get to the servers: a frontend of ours, or what is compared with it. */
interface Way {

  /** As tables call it. */
  String name();

  /** Starts it on a pool, as new. */
  Started start(PoolFiles files) throws IOException, InterruptedException;

  /** One that runs, until it is closed. */
  interface Started extends AutoCloseable {

    /** Where requests go. */
    URI url();

    /** Its metrics page. */
    URI metrics();

    @Override
    void close();
  }
}
