package io.fairlead.crds.v1;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Condition;
import io.fairlead.crds.Lenient;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one controller says about a pool in the eyes of one parent.
 *
 * @param parentRef the parent, usually a Gateway
 * @param controllerName {@code DOMAIN/PATH} of the controller that wrote the entry; kinds of
 *     upstream's v1.0 have no such field, and drop it
 * @param conditions at most 8, one per type
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ParentStatus(
    @Nullable ParentReference parentRef,
    @Nullable String controllerName,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Condition> conditions) {

  /** The {@code controllerName} of entries that the operator writes. */
  public static final String FAIRLEAD = "fairlead.io/operator";

  /** API group and kind of what those entries speak for. */
  public static final String PICKER_GROUP = "fairlead.io";

  public static final String PICKER_KIND = "EndpointPicker";

  public ParentStatus {
    conditions = Lenient.list(conditions);
  }

  /** Whether the operator wrote it: by its controller, without one by what it speaks for. */
  @JsonIgnore
  public boolean isOurs() {
    return controllerName == null
        ? parentRef != null
            && PICKER_GROUP.equals(parentRef.group())
            && PICKER_KIND.equals(parentRef.kind())
        : FAIRLEAD.equals(controllerName);
  }
}
