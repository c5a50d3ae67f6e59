package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of requests to be replayed.
 *
 * @param volumeClaimName PersistentVolumeClaim to write to; a volume that goes with the pod when
 *     absent
 * @param sharePercent of requests, 1 to 100; 100 when absent
 * @param files pairs that are kept; 16 when absent
 * @param fileMebibytes size of one; 64 when absent
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record CaptureSpec(
    @Nullable String volumeClaimName,
    @Nullable Integer sharePercent,
    @Nullable Integer files,
    @Nullable Integer fileMebibytes) {}
