package io.fairlead.epp.kvevents;

/** A message that is no batch of events. Its text says nothing of its content, which is prompts. */
final class MalformedEventsException extends Exception {

  private static final long serialVersionUID = 1L;

  MalformedEventsException(String message) {
    super(message, null, false, false);
  }
}
