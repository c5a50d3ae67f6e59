package io.fairlead.epp;

/** A thread that can't be started, as in a process that has as many as it may have. */
public final class ScarceThread extends Thread {

  /** One that would run {@code task}. */
  public ScarceThread(Runnable task) {
    super(task);
  }

  @Override
  public void start() {
    throw new OutOfMemoryError("unable to create native thread");
  }
}
