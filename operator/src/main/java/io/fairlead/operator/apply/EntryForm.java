package io.fairlead.operator.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1.ParentStatus;
import io.fairlead.crds.v1alpha2.OldInferencePool;
import java.util.Optional;

/** How the entries in a pool's status look on the wire, by the pool's group. */
enum EntryForm {
  /** Of v1, where an entry names its controller unless the kind is of upstream's v1.0. */
  SETTLED("parents") {
    @Override
    Object written(ParentStatus entry) {
      return entry;
    }

    @Override
    ParentStatus read(JsonNode entry) {
      return JSON.convertValue(entry, ParentStatus.class);
    }

    @Override
    boolean standsForNone(JsonNode entry) {
      return false;
    }

    @Override
    Optional<Object> none() {
      return Optional.empty();
    }
  },

  /** Of v1alpha2, where a list without entries has one that stands for that. */
  OLD(OldInferencePool.PARENTS) {
    @Override
    Object written(ParentStatus entry) {
      return OldInferencePool.Entry.of(entry);
    }

    @Override
    ParentStatus read(JsonNode entry) {
      return old(entry).settled();
    }

    @Override
    boolean standsForNone(JsonNode entry) {
      return old(entry).standsForNone();
    }

    @Override
    Optional<Object> none() {
      return Optional.of(OldInferencePool.Entry.none());
    }

    private OldInferencePool.Entry old(JsonNode entry) {
      return JSON.convertValue(entry, OldInferencePool.Entry.class);
    }
  };

  private static final JsonMapper JSON = new JsonMapper();

  private final String list;

  EntryForm(String list) {
    this.list = list;
  }

  static EntryForm of(InferencePool pool) {
    return pool instanceof OldInferencePool ? OLD : SETTLED;
  }

  /** The field of the status that holds the entries. */
  String list() {
    return list;
  }

  /** An entry of ours as it is sent. */
  abstract Object written(ParentStatus entry);

  /** An entry as it was read. */
  abstract ParentStatus read(JsonNode entry);

  /** Whether the entry stands for there being none. */
  abstract boolean standsForNone(JsonNode entry);

  /** What is left in the list where no entry is. */
  abstract Optional<Object> none();
}
