package io.fairlead.epp.datalayer;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSliceBuilder;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ReadyReplicasTest {

  @Test
  void oneIsAlwaysThere() {
    assertThat(ReadyReplicas.count(List.of())).isEqualTo(1);
    assertThat(ReadyReplicas.count(List.of(new EndpointSlice()))).isEqualTo(1);
    assertThat(count(slice("IPv4", pod("a", "10.0.0.1", false, true, false)))).isEqualTo(1);
    assertThat(count(slice("IPv4", ready("a", "10.0.0.1")))).isEqualTo(1);
  }

  /** As an API server writes it while no pod is behind the Service. */
  @Test
  void aSliceMayHaveNullForEndpoints() {
    EndpointSlice none = slice("IPv4");
    none.setEndpoints(null);
    assertThat(count(none, slice("IPv4", ready("a", "10.0.0.1"), ready("b", "10.0.0.2"))))
        .isEqualTo(2);
    assertThat(ReadyReplicas.addresses(List.of(none))).isEmpty();
  }

  @Test
  void slicesAddUp() {
    assertThat(
            count(
                slice("IPv4", ready("a", "10.0.0.1"), ready("b", "10.0.0.2")),
                slice("IPv4", ready("c", "10.0.0.3")),
                slice("IPv4")))
        .isEqualTo(3);
  }

  @Test
  void aPodThatMovesFromOneSliceToAnotherIsOne() {
    assertThat(
            count(
                slice("IPv4", ready("a", "10.0.0.1"), ready("b", "10.0.0.2")),
                slice("IPv4", ready("b", "10.0.0.2"), ready("b", "10.0.0.2"))))
        .isEqualTo(2);
  }

  @Test
  void aPodWithTwoFamiliesIsOne() {
    assertThat(
            count(
                slice("IPv4", ready("a", "10.0.0.1"), ready("b", "10.0.0.2")),
                slice("IPv6", ready("a", "fd00::1"), ready("b", "fd00::2"))))
        .isEqualTo(2);
  }

  /** Each is asked at one address: two would be heard twice. */
  @Test
  void aPodWithTwoFamiliesHasOneAddress() {
    List<String> addresses =
        ReadyReplicas.addresses(
            List.of(
                slice("IPv6", ready("a", "fd00::1"), ready(null, "fd00::3")),
                slice("IPv4", ready("a", "10.0.0.1"), ready("b", "10.0.0.2"))));
    assertThat(addresses).containsExactly("10.0.0.1", "10.0.0.2", "fd00::3");
  }

  @Test
  void onlyThoseThatAreReadyAndStayCount() {
    assertThat(
            count(
                slice(
                    "IPv4",
                    ready("a", "10.0.0.1"),
                    ready("b", "10.0.0.2"),
                    pod("starting", "10.0.0.3", false, false, false),
                    pod("leaving", "10.0.0.4", false, true, true),
                    pod("published while it leaves", "10.0.0.5", true, true, true),
                    pod("unknown", "10.0.0.6", null, null, null))))
        .isEqualTo(3);
  }

  @Test
  void addressesCountWhereNoPodIsNamedOnceForAllFamilies() {
    assertThat(
            count(
                slice("IPv4", ready(null, "10.0.0.1"), ready(null, "10.0.0.2")),
                slice("IPv4", ready(null, "10.0.0.2"), ready("a", "10.0.0.3")),
                slice("IPv6", ready(null, "fd00::1"), ready(null, "fd00::2"))))
        .isEqualTo(3);
  }

  private static int count(EndpointSlice... slices) {
    return ReadyReplicas.count(List.of(slices));
  }

  private static EndpointSlice slice(String addressType, Endpoint... endpoints) {
    return new EndpointSliceBuilder().withAddressType(addressType).withEndpoints(endpoints).build();
  }

  private static Endpoint ready(@Nullable String pod, String address) {
    return pod(pod, address, true, true, false);
  }

  private static Endpoint pod(
      @Nullable String pod,
      String address,
      @Nullable Boolean ready,
      @Nullable Boolean serving,
      @Nullable Boolean terminating) {
    EndpointBuilder endpoint =
        new EndpointBuilder().withAddresses(address).withNewConditions(ready, serving, terminating);
    return pod == null
        ? endpoint.build()
        : endpoint.withNewTargetRef().withKind("Pod").withName(pod).endTargetRef().build();
  }
}
