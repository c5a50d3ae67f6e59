package io.fairlead.epp.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.EndpointSnapshot;
import io.fairlead.core.HealthState;
import java.util.List;
import org.junit.jupiter.api.Test;

class UpstreamNamesTest {

  @Test
  void countersHistogramsAndGaugesComeUnderUpstreamsNames() {
    StringBuilder page =
        new StringBuilder(
            """
            # HELP fairlead_requests_total Requests that are over, by how they ended.
            # TYPE fairlead_requests_total counter
            fairlead_requests_total{criticality="critical",model="chat",outcome="completed"} 2.0
            fairlead_requests_total{criticality="critical",model="chat",outcome="saturated"} 1.0
            fairlead_request_duration_seconds_bucket{model="chat",le="0.005"} 1
            fairlead_request_duration_seconds_count{model="chat"} 2
            fairlead_request_duration_seconds_sum{model="chat"} 0.5
            fairlead_request_duration_seconds_max{model="chat"} 0.4
            fairlead_request_duration_per_output_token_seconds_count{model="chat"} 7
            fairlead_endpoint_sent_total{endpoint="vllm-0"} 3
            fairlead_build_info{java="25",version="1.2"} 1.0
            fairlead_scheduling_latency_seconds_count 4
            """);
    int before = page.length();
    UpstreamNames.append(page);

    assertThat(page.substring(before))
        .isEqualTo(
            """
            # HELP inference_objective_request_total Upstream's name of fairlead_requests_total.
            # TYPE inference_objective_request_total counter
            inference_objective_request_total{criticality="critical",model_name="chat",outcome="completed"} 2.0
            inference_objective_request_total{criticality="critical",model_name="chat",outcome="saturated"} 1.0
            # HELP inference_objective_request_error_total Upstream's name of fairlead_requests_total.
            # TYPE inference_objective_request_error_total counter
            inference_objective_request_error_total{criticality="critical",model_name="chat",error_code="saturated"} 1.0
            # HELP inference_objective_normalized_time_per_output_token_seconds Upstream's name of fairlead_request_duration_per_output_token_seconds.
            # TYPE inference_objective_normalized_time_per_output_token_seconds histogram
            inference_objective_normalized_time_per_output_token_seconds_count{model_name="chat"} 7
            # HELP inference_objective_request_duration_seconds Upstream's name of fairlead_request_duration_seconds.
            # TYPE inference_objective_request_duration_seconds histogram
            inference_objective_request_duration_seconds_bucket{model_name="chat",le="0.005"} 1
            inference_objective_request_duration_seconds_count{model_name="chat"} 2
            inference_objective_request_duration_seconds_sum{model_name="chat"} 0.5
            # HELP inference_extension_scheduler_e2e_duration_seconds Upstream's name of fairlead_scheduling_latency_seconds.
            # TYPE inference_extension_scheduler_e2e_duration_seconds histogram
            inference_extension_scheduler_e2e_duration_seconds_count 4
            # HELP inference_extension_scheduler_attempts_total Upstream's name of fairlead_endpoint_sent_total.
            # TYPE inference_extension_scheduler_attempts_total counter
            inference_extension_scheduler_attempts_total{status="success",pod_name="vllm-0"} 3
            # HELP inference_extension_info Upstream's name of fairlead_build_info.
            # TYPE inference_extension_info gauge
            inference_extension_info{commit="",java="25",build_ref="1.2"} 1.0
            """);
  }

  @Test
  void aModelsNameIsNoLabel() {
    StringBuilder page =
        new StringBuilder(
            "fairlead_request_duration_seconds_sum{model=\"a\\\",model=\\\"b,model=c\"} 1.0\n");
    UpstreamNames.append(page);
    assertThat(page.toString().lines().toList().getLast())
        .isEqualTo(
            "inference_objective_request_duration_seconds_sum"
                + "{model_name=\"a\\\",model=\\\"b,model=c\"} 1.0");
  }

  @Test
  void aPoolIsTheMeanOfItsEndpoints() {
    StringBuilder page = new StringBuilder();
    PoolLines.append(
        page,
        "vllm",
        List.of(
            endpoint("a", 4, 0.5, false),
            endpoint("b", 0, Double.NaN, false),
            endpoint("c", 9, 1, true)));
    assertThat(page.toString().lines().filter(line -> !line.startsWith("#")))
        .containsExactly(
            "inference_pool_ready_pods{name=\"vllm\"} 2.000000",
            "inference_pool_average_kv_cache_utilization{name=\"vllm\"} 0.500000",
            "inference_pool_average_queue_size{name=\"vllm\"} 2.000000",
            "inference_pool_average_running_requests{name=\"vllm\"} 2.000000",
            "inference_pool_per_pod_queue_size{model_server_pod=\"a\",name=\"vllm\"} 4",
            "inference_pool_per_pod_queue_size{model_server_pod=\"b\",name=\"vllm\"} 0");
  }

  @Test
  void aPoolWithoutEndpointsHasNoMean() {
    StringBuilder page = new StringBuilder();
    PoolLines.append(page, "vllm", List.of());
    assertThat(page.toString().lines().filter(line -> !line.startsWith("#")))
        .containsExactly("inference_pool_ready_pods{name=\"vllm\"} 0.000000");
  }

  private static EndpointSnapshot endpoint(
      String name, int waiting, double kvUsage, boolean leaving) {
    return new EndpointSnapshot(
        name,
        3,
        1,
        waiting,
        kvUsage,
        0,
        0,
        0,
        leaving,
        new EndpointSnapshot.Health(HealthState.IN_USE, "", 0, 0),
        0);
  }
}
