package io.fairlead.crds.compile;

/**
 * What is wrong with one object, in the words of its conditions.
 *
 * @param object the object
 * @param path the field, {@code spec} for the object as a whole
 * @param reason reason of the condition
 * @param message what was found and what to do next; names no count and no time
 * @param severity what it does to the object
 */
public record Finding(
    ObjectRef object, String path, String reason, String message, Severity severity) {
  public static final String INVALID_SPEC = "InvalidSpec";
  public static final String INVALID_POOL_REF = "InvalidPoolRef";
  public static final String INVALID_EXTENSION_REF = "InvalidExtensionRef";
  public static final String MODEL_NAME_IN_USE = "ModelNameInUse";
  public static final String POOL_NOT_FOUND = "PoolNotFound";
  public static final String NOT_CARRIED_OUT = "NotCarriedOut";
  public static final String INVALID_ANNOTATION = "InvalidAnnotation";

  /** What a finding does to its object. */
  public enum Severity {
    /** The object is left out; of a pool or a picker: there is no new config at all. */
    REJECTS,
    /** The object is used, but not all that it says comes true. */
    WARNS
  }
}
