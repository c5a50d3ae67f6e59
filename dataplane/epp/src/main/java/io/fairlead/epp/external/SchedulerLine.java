package io.fairlead.epp.external;

import io.fairlead.scheduler.v1.PickerMessage;
import io.fairlead.scheduler.v1.SchedulerMessage;

/** The way to a scheduler: keeps a stream open, and opens another one when it has broken. */
interface SchedulerLine extends AutoCloseable {

  /** Is told what comes, on the loop where the scheduler is asked. */
  interface Listener {

    /** A stream is open: what was sent before is lost. Nothing was sent in this one. */
    void opened();

    /** The stream takes more, after a while in which it did not. */
    void ready();

    /**
     * Something came in the stream that is open.
     *
     * @return answers in it that were asked for, less those that were not; who sends more of these
     *     is read more slowly
     */
    int came(SchedulerMessage message);

    /**
     * The stream is gone, or can't be opened; another will be tried in a while.
     *
     * @param why to be read after a colon
     */
    void broken(String why);
  }

  /** Begins to keep a stream open. */
  void start(Listener listener);

  /** Whether what is sent now goes out at once; if not, {@link Listener#ready} tells when. */
  boolean isReady();

  /** Sends in the stream that is open. */
  void send(PickerMessage message);

  /** What came in the stream broke its rules: another one is opened in a while. */
  void reset(String why);

  /** Ends the stream. Any thread, and more than once. */
  @Override
  void close();
}
