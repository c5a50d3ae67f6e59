package io.fairlead.crds.v1;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Condition;
import io.fairlead.crds.Lenient;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
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

  public ParentStatus {
    conditions = Lenient.list(conditions);
  }

  /** Whether the operator wrote it: by its controller, without one by what it speaks for. */
  @JsonIgnore
  public boolean isOurs() {
    return controllerName == null
        ? parentRef != null
            && EndpointPicker.GROUP.equals(parentRef.group())
            && EndpointPicker.KIND.equals(parentRef.kind())
        : FAIRLEAD.equals(controllerName);
  }
}
