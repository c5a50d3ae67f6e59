package io.fairlead.core;

/** What a request lacks that can't go now, as things are. */
enum Lack {
  /** Nobody has looked yet, as others wait before it. */
  UNKNOWN,
  /** Room, which other requests like it lack, too. */
  ROOM,
  /** Room beside the contexts of conversations, which one that goes on with one of them has. */
  CONTEXTS,
  /** A cache large enough for its prompt where there is room: another request may go there. */
  CACHE,
  /** A slot for its adapter, anywhere: requests for other adapters may go meanwhile. */
  SLOT,
  /** The same, but where its adapter has a slot there is no room. */
  SLOT_OR_ROOM;

  /** Whether another adapter that gives its slot up would help. */
  boolean isOfSlot() {
    return this == SLOT || this == SLOT_OR_ROOM;
  }
}
