package io.fairlead.crds.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ApiJsonTest {
  private static final String OBJECT = "{\"%s\":1}".formatted("n".repeat(60_000));

  private final KubernetesSerialization json = ApiJson.serialization();

  /** One that is found again was kept, and would be for as long as the process. */
  @Test
  void keepsNoNamesOfFields() {
    assertThat(nameIn(json.unmarshal(OBJECT, Map.class)))
        .isEqualTo(nameIn(json.unmarshal(OBJECT, Map.class)))
        .isNotSameAs(nameIn(json.unmarshal(OBJECT, Map.class)));
    assertThat(nameIn(streamed())).isEqualTo(nameIn(streamed())).isNotSameAs(nameIn(streamed()));
  }

  private Map<?, ?> streamed() {
    return json.unmarshal(
        new ByteArrayInputStream(OBJECT.getBytes(StandardCharsets.UTF_8)), Map.class);
  }

  private static Object nameIn(Map<?, ?> object) {
    return object.keySet().iterator().next();
  }
}
