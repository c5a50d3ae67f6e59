package io.fairlead.stub.server;

/** How far a server is on its way out. */
enum Life {
  SERVING,
  /** Told to stop; requests in flight finish. */
  DRAINING,
  /** Its engine is dead: health says so, metrics repeat themselves. */
  DEAD,
  /** Not even metrics answer. */
  SILENT
}
