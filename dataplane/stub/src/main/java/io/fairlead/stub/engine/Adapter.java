package io.fairlead.stub.engine;

/** A LoRA adapter as the engine knows it; the base model is one that needs no slot. */
final class Adapter {

  final String name;

  /** Requests of it that are admitted. */
  int running;

  /** Requests of it that are not. */
  int waiting;

  boolean resident;

  /** Orders the adapters that run no request: the smallest has been idle longest. */
  long idleSince;

  Adapter(String name) {
    this.name = name;
  }
}
