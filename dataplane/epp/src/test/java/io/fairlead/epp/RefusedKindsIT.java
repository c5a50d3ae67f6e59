package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.testing.RefusedLists;
import io.fairlead.crds.testing.TestPods;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.epp.Traffic.Answer;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A picker without an operator, whose API server refuses for a while to list rewrites. */
@ExtendWith(KubeApi.class)
class RefusedKindsIT {

  /** A watch that failed tries again at growing intervals. */
  private static final Duration SEEN = Duration.ofSeconds(90);

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final ModelServer stub =
      ModelServer.start(
          ModelServerConfig.builder("server", "chat", "chat-v2", "chat-v3").instant().build(),
          loops);
  private final RefusedLists lists =
      new RefusedLists(RewrittenPool.GROUP, "inferencemodelrewrites");
  private final PickerNamespace own;
  private final KubernetesClient admin;

  RefusedKindsIT(KubeApi.Running api) throws Exception {
    own = new PickerNamespace(api, "refused");
    admin = own.admin();
  }

  @AfterEach
  void stop() {
    stub.close();
    loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  /**
   * An API server that starts says once that a kind is not there, or may not be read; one that has
   * lost it says so again.
   */
  @ParameterizedTest
  @ValueSource(strings = {"*", "inferencemodelrewrites"})
  void rewritesStayInForceAfterOneRefusalAndGoAfterTwo(String granted) throws Exception {
    RewrittenPool pool = makePool(granted);
    Config behind = own.access();
    URI real = URI.create(behind.getMasterUrl());
    try (Relay way = new Relay(real.getHost(), real.getPort())) {
      way.open();
      behind.setMasterUrl("https://127.0.0.1:" + way.port() + "/");
      try (DataPlane dataPlane = start(behind, lists);
          Traffic traffic = new Traffic(dataPlane.gatewayPort().orElseThrow(), 1)) {
        dataPlane.ready().get(60, TimeUnit.SECONDS);
        RewrittenPool.awaitServedBy(traffic, "chat-v2");

        lists.refuse(1);
        way.shut();
        way.open();
        await().atMost(SEEN).until(() -> lists.refused() == 1);
        pool.retarget("chat-v3");
        assertThat(RewrittenPool.awaitServedBy(traffic, "chat-v3"))
            .extracting(Answer::servedBy)
            .isSubsetOf("chat-v2", "chat-v3");

        lists.refuse(Integer.MAX_VALUE);
        way.shut();
        way.open();
        RewrittenPool.awaitServedBy(traffic, "chat");

        lists.refuse(0);
        RewrittenPool.awaitServedBy(traffic, "chat-v3");
      }
    }
  }

  /** As where a proxy before the API server fails, or its credentials are not known to it yet. */
  @ParameterizedTest
  @ValueSource(ints = {401, 429, 503})
  void whatIsNotAnsweredForAtTheStartKeepsNobodyFromBeingServed(int status) throws Exception {
    makePool("*");
    HttpServer failing =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    failing.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(status, -1);
          exchange.close();
        });
    failing.start();
    AtomicBoolean fails = new AtomicBoolean(true);
    Interceptor elsewhere =
        new Interceptor() {
          @Override
          public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
            if (fails.get() && request.uri().getPath().endsWith("/inferencemodelrewrites")) {
              builder.uri(URI.create("http://127.0.0.1:" + failing.getAddress().getPort() + "/"));
            }
          }
        };
    try (DataPlane dataPlane = start(own.access(), elsewhere);
        Traffic traffic = new Traffic(dataPlane.gatewayPort().orElseThrow(), 1)) {
      dataPlane.ready().get(30, TimeUnit.SECONDS);
      RewrittenPool.awaitServedBy(traffic, "chat");

      fails.set(false);
      RewrittenPool.awaitServedBy(traffic, "chat-v2");
    } finally {
      failing.stop(0);
    }
  }

  private RewrittenPool makePool(String granted) {
    grant(granted);
    admin.resource(TestPods.named("server", own.name(), Map.of("app", "vllm"))).create();
    own.running("server", "127.0.0.1", true, 0);
    return new RewrittenPool(own, URI.create(stub.url()).getPort());
  }

  private DataPlane start(Config access, Interceptor requests) {
    return DataPlane.start(
        DataPlaneConfig.builder(
                new ClusterPool(
                    own.name(),
                    new ClusterPool.OfPool("pool", InferencePool.GROUP),
                    new ClusterPool.UpstreamDefault(),
                    null,
                    () ->
                        new KubernetesClientBuilder()
                            .withConfig(access)
                            .withHttpClientBuilderConsumer(
                                http -> http.addOrReplaceInterceptor("requests", requests))
                            .build()))
            .gateway("127.0.0.1", 0)
            .loops(1)
            .build());
  }

  private void grant(String ofGroup) {
    admin
        .resource(
            new RoleBuilder()
                .withNewMetadata()
                .withName("upstream")
                .withNamespace(own.name())
                .endMetadata()
                .addNewRule()
                .withApiGroups(InferencePool.GROUP)
                .withResources("inferencepools")
                .withVerbs("get", "list", "watch")
                .endRule()
                .addNewRule()
                .withApiGroups(RewrittenPool.GROUP)
                .withResources("inferenceobjectives", ofGroup)
                .withVerbs("get", "list", "watch")
                .endRule()
                .build())
        .create();
    admin
        .resource(
            new RoleBindingBuilder()
                .withNewMetadata()
                .withName("upstream")
                .withNamespace(own.name())
                .endMetadata()
                .withNewRoleRef("rbac.authorization.k8s.io", "Role", "upstream")
                .addNewSubject("", "ServiceAccount", "epp", own.name())
                .build())
        .create();
  }
}
