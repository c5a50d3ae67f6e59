package io.fairlead.epp.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.fairlead.core.EndpointSpec;
import io.fairlead.crds.document.DocumentException;
import io.fairlead.crds.local.LocalResourceReader;
import io.fairlead.epp.datalayer.EndpointSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One server that is listed twice would count as two, and get twice as much. */
class LocalEndpointsTest {

  private static final String FILE = "endpoints.yaml";

  private static EndpointSet read(String text) throws DocumentException {
    return LocalEndpoints.of(FILE, LocalResourceReader.read(FILE, text));
  }

  @ParameterizedTest
  @CsvSource({"10.0.0.1, 10.0.0.1", "fd00::1, fd00:0:0:0:0:0:0:1"})
  void aServerThatIsListedTwiceIsRefused(String address, String again) {
    String text =
        """
        endpoints:
        - {name: one, address: "%s", port: 8000}
        - {name: two, address: "%s", port: 8001}
        - {name: three, address: "%s", port: 8000}
        """
            .formatted(address, address, again);
    assertThatExceptionOfType(DocumentException.class)
        .isThrownBy(() -> read(text))
        .satisfies(
            refused ->
                assertThat(refused.errors())
                    .extracting(Object::toString)
                    .containsExactly(
                        "endpoints.yaml: endpoints[2]: is where \"one\" is, at "
                            + again
                            + " port 8000; list each server once"));
  }

  @Test
  void namespacesTellEndpointsOfOneNameApart() throws DocumentException {
    assertThat(
            read("""
                endpoints:
                - {name: vllm-0, namespace: blue, address: 10.0.0.1, port: 8000}
                - {name: vllm-0, namespace: green, address: 10.0.0.2, port: 8000}
                - {name: vllm-0, address: 10.0.0.3, port: 8000}
                - {name: vllm-1, namespace: green, address: 10.0.0.4, port: 8000}
                """)
                .ready())
        .extracting(EndpointSpec::name)
        .containsExactly("blue/vllm-0", "green/vllm-0", "vllm-0", "vllm-1");
    assertThat(
            LocalResourceReader.read(
                    FILE,
                    """
                    endpoints:
                    - {name: vllm-0, namespace: blue, address: 10.0.0.1, port: 8000}
                    - {name: vllm-0, namespace: blue, address: 10.0.0.2, port: 8000}
                    """)
                .errors())
        .extracting(Object::toString)
        .singleElement()
        .asString()
        .contains("endpoints[1]", "repeats an earlier element's");
  }

  /** As while a pod takes another's place on its node. */
  @Test
  void oneThatGoesMayHaveTheAddressOfOneThatComes() throws DocumentException {
    String slice =
        """
        apiVersion: discovery.k8s.io/v1
        kind: EndpointSlice
        metadata: {name: slice}
        addressType: IPv4
        ports: [{port: 8000}]
        endpoints:
        - {addresses: [10.0.0.1], hostname: old, conditions: {ready: false, terminating: true}}
        - {addresses: [10.0.0.1], hostname: new}
        """;
    assertThat(read(slice).ready()).extracting(EndpointSpec::name).containsExactly("new");
  }
}
