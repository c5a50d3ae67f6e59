package io.fairlead.epp.external;

import io.fairlead.scheduler.v1.PickerMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A line that a test holds the other end of. */
final class HeldLine implements SchedulerLine {
  final List<PickerMessage> sent = new ArrayList<>();
  private @Nullable Listener listener;
  int resets;
  boolean ready = true;

  Listener to() {
    return Objects.requireNonNull(listener);
  }

  @Override
  public void start(Listener told) {
    listener = told;
  }

  @Override
  public boolean isReady() {
    return ready;
  }

  @Override
  public void send(PickerMessage message) {
    sent.add(message);
  }

  @Override
  public void reset(String why) {
    resets++;
  }

  @Override
  public void close() {}
}
