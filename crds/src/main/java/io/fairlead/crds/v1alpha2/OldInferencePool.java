package io.fairlead.crds.v1alpha2;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import com.fasterxml.jackson.databind.util.StdConverter;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import io.fairlead.crds.Lenient;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.EndpointPickerRef;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1.InferencePoolSpec;
import io.fairlead.crds.v1.InferencePoolStatus;
import io.fairlead.crds.v1.ParentReference;
import io.fairlead.crds.v1.ParentStatus;
import io.fairlead.crds.v1.PoolSelector;
import io.fairlead.crds.v1.Port;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An InferencePool of the group that the kind was in before it was settled. On the wire it has
 * other fields; read, it says what a pool of v1 would say. It is never written but for entries of
 * its status, see {@link Entry}.
 */
@Group(OldInferencePool.GROUP)
@Version(OldInferencePool.VERSION)
@Kind(OldInferencePool.KIND)
@Plural("inferencepools")
public final class OldInferencePool extends InferencePool {
  public static final String GROUP = InferenceModel.GROUP;
  public static final String VERSION = InferenceModel.VERSION;
  public static final String KIND = "InferencePool";

  /** What its status calls the list that is {@code parents} in v1. */
  public static final String PARENTS = "parent";

  /** Where {@code extensionRef} names a Service and no port. */
  private static final int USUAL_PORT = 9002;

  private static final String PICKER_API = EndpointPicker.GROUP + "/" + EndpointPicker.VERSION;

  @Override
  @JsonSerialize(converter = Spec.Written.class)
  public @Nullable InferencePoolSpec getSpec() {
    return super.getSpec();
  }

  @Override
  @JsonDeserialize(converter = Spec.Settled.class)
  public void setSpec(InferencePoolSpec spec) {
    super.setSpec(spec);
  }

  @Override
  @JsonSerialize(converter = Status.Written.class)
  public @Nullable InferencePoolStatus getStatus() {
    return super.getStatus();
  }

  @Override
  @JsonDeserialize(converter = Status.Settled.class)
  public void setStatus(InferencePoolStatus status) {
    super.setStatus(status);
  }

  /** A text about a pool that names fields of v1, with the names that they have here. */
  public static String inItsWords(String text) {
    return text.replace("spec.endpointPickerRef.port.number", "spec.extensionRef.portNumber")
        .replace("spec.endpointPickerRef", "spec.extensionRef")
        .replace("spec.selector.matchLabels", "spec.selector")
        .replace("spec.targetPorts[0].number", "spec.targetPortNumber")
        .replace("spec.targetPorts", "spec.targetPortNumber");
  }

  /** The fields of its spec. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Spec(
      @Nullable Map<String, String> selector,
      @Nullable Integer targetPortNumber,
      @Nullable Extension extensionRef) {

    /** Reads them as those of v1. */
    static final class Settled extends StdConverter<Spec, InferencePoolSpec> {
      @Override
      public InferencePoolSpec convert(Spec spec) {
        return new InferencePoolSpec(
            new PoolSelector(Lenient.map(spec.selector())),
            spec.targetPortNumber() == null
                ? List.of()
                : List.of(new Port(spec.targetPortNumber())),
            null,
            spec.extensionRef() == null ? null : spec.extensionRef().settled());
      }
    }

    /** The reverse. */
    static final class Written extends StdConverter<InferencePoolSpec, Spec> {
      @Override
      public Spec convert(InferencePoolSpec settled) {
        PoolSelector selector = settled.selector();
        EndpointPickerRef ref = settled.endpointPickerRef();
        return new Spec(
            selector == null ? null : selector.matchLabels(),
            settled.targetPorts().isEmpty() ? null : settled.targetPorts().getFirst().number(),
            ref == null ? null : Extension.of(ref));
      }
    }
  }

  /** The fields of its reference to a picker. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Extension(
      @Nullable String group,
      @Nullable String kind,
      @Nullable String name,
      @Nullable Integer portNumber,
      @Nullable String failureMode) {

    static Extension of(EndpointPickerRef settled) {
      Port port = settled.port();
      return new Extension(
          settled.group(),
          settled.kind(),
          settled.name(),
          port == null ? null : port.number(),
          settled.failureMode());
    }

    EndpointPickerRef settled() {
      boolean service = kind == null || kind.equals("Service");
      Integer port = portNumber == null && service ? Integer.valueOf(USUAL_PORT) : portNumber;
      return new EndpointPickerRef(
          group, kind, name, port == null ? null : new Port(port), failureMode);
    }
  }

  /** The fields of its status. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Status(@Nullable List<Entry> parent) {

    /** Reads them as those of v1. */
    static final class Settled extends StdConverter<Status, InferencePoolStatus> {
      @Override
      public InferencePoolStatus convert(Status status) {
        return new InferencePoolStatus(
            Lenient.list(status.parent()).stream().map(Entry::settled).toList());
      }
    }

    /** The reverse. */
    static final class Written extends StdConverter<InferencePoolStatus, Status> {
      @Override
      public Status convert(InferencePoolStatus settled) {
        return new Status(settled.parents().stream().map(Entry::of).toList());
      }
    }
  }

  /**
   * An entry of its status as it is on the wire, where it names no controller: those of the
   * operator are known by what they speak for.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Entry(@Nullable Parent parentRef, @Nullable List<Condition> conditions) {

    /** Of an entry of v1. */
    public static Entry of(ParentStatus settled) {
      ParentReference ref = settled.parentRef();
      String api = ParentStatus.FAIRLEAD.equals(settled.controllerName()) ? PICKER_API : null;
      return new Entry(
          ref == null
              ? null
              : new Parent(api, ref.group(), ref.kind(), ref.namespace(), ref.name()),
          settled.conditions());
    }

    /** The same as an entry of v1. */
    public ParentStatus settled() {
      return new ParentStatus(
          parentRef == null ? null : parentRef.settled(),
          parentRef != null && parentRef.isOurs() ? ParentStatus.FAIRLEAD : null,
          Lenient.list(conditions));
    }

    /** What stands for there being no entry: the list is never left empty. */
    public static Entry none() {
      return new Entry(new Parent(null, null, "Status", null, "default"), null);
    }

    /** Whether it only stands for there being no entry. */
    public boolean standsForNone() {
      return parentRef != null && "Status".equals(parentRef.kind());
    }
  }

  /**
   * What an entry speaks for. Older CRDs keep its {@code apiVersion}, newer ones its {@code group};
   * each drops the other.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Parent(
      @Nullable String apiVersion,
      @Nullable String group,
      @Nullable String kind,
      @Nullable String namespace,
      @Nullable String name) {

    private boolean isOurs() {
      return EndpointPicker.KIND.equals(kind)
          && (EndpointPicker.GROUP.equals(group)
              || (apiVersion != null && apiVersion.startsWith(EndpointPicker.GROUP + "/")));
    }

    ParentReference settled() {
      return new ParentReference(isOurs() ? EndpointPicker.GROUP : group, kind, namespace, name);
    }
  }
}
