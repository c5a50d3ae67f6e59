package io.fairlead.epp;

import io.fairlead.epp.director.PoolLoop;
import io.netty.channel.EventLoopGroup;

/** Makes the frontends of a pool, on loops that stay the data plane's. */
final class Frontends {

  Frontends(PoolLoop pool, Transport transport, EventLoopGroup group) {}

  /** Tells every frontend that says so to its callers whether requests may come. */
  void ready(boolean ready) {}

  Frontend gateway(DataPlaneConfig.Gateway config) {
    throw missing("gateway", config.listen());
  }

  Frontend extProc(DataPlaneConfig.ExtProc config) {
    throw missing("ext_proc", config.listen());
  }

  Frontend health(DataPlaneConfig.Listen listen) {
    throw missing("gRPC health", listen);
  }

  private IllegalStateException missing(String what, DataPlaneConfig.Listen listen) {
    return new IllegalStateException(what + " on port " + listen.port() + " is not in this build");
  }
}
