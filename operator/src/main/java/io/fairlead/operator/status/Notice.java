package io.fairlead.operator.status;

/** Reasons of the warnings that no condition tells: what they are about may have none. */
public enum Notice {
  NO_LONGER_SERVED(
      "NoLongerServed",
      "The pool is given up: no EndpointPicker names it any more, or somebody else provides its Service. The picker and all that belongs to it are deleted; only the Secret of its hand-over, if it has one, stays until the pool goes.",
      "Nothing, or create an EndpointPicker that names the pool."),
  NOT_DELETED(
      "NotDeleted",
      "The pool is given up, and the API server does not let the operator delete what belonged to its picker. What the message names stays, and may go on serving; all else is gone.",
      "Do what the message says; it is tried again four times a minute."),
  SERVED_BY_ANOTHER(
      "ServedByAnother",
      "An operator that is not to serve the pool deletes what belongs to its picker, and somebody makes it again, such as another operator. It is left as it is from now on.",
      "Have one operator serve the namespace, or give all that do the same `--adopt`. Restart the one that says so when the other is gone: it takes down what it has left."),
  REPAIRED(
      "Repaired",
      "Somebody changed or deleted an object that belongs to the pool's picker, and it has been put right.",
      "Nothing, or change the EndpointPicker instead; `spec.paused` has the operator leave all as it is."),
  STATUS_REFUSED(
      "StatusRefused",
      "The API server does not take the object's status, as where an admission policy refuses it. What stands there, if anything, is no longer true; requests are served all the same.",
      "See to the webhook or policy that the message names; it is tried again twice a minute at least."),
  STATUS_CONTENDED(
      "StatusContended",
      "Somebody changes what the operator says in the object's status again and again, such as another operator that serves it, too. It is said rarely from now on.",
      "Have whoever the message names leave these conditions alone; have one operator serve a namespace."),
  NO_ROOM_FOR_STATUS_ENTRY(
      "NoRoomForStatusEntry",
      "`status.parents` of the pool holds as many entries of others as there can be, so ours is not there.",
      "Remove entries of controllers that are gone; meanwhile the EndpointPicker tells how the pool is."),
  STATUS_ENTRY_REMOVED(
      "StatusEntryRemoved",
      "Another controller removes our entry from `status.parents` of the pool again and again; it is put back rarely from now on.",
      "Correct the controller that the message names; meanwhile the EndpointPicker tells how the pool is.");

  private final String wireName;
  private final String meaning;
  private final String step;

  Notice(String wireName, String meaning, String step) {
    this.wireName = wireName;
    this.meaning = meaning;
    this.step = step;
  }

  /** The spelling in an Event's {@code reason}. */
  public String wireName() {
    return wireName;
  }

  /** What is the case; Markdown. */
  public String meaning() {
    return meaning;
  }

  /** What to do about it; Markdown. */
  public String step() {
    return step;
  }
}
