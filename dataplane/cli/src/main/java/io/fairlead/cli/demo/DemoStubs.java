package io.fairlead.cli.demo;

import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fairlead.crds.local.LocalResources;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.crds.v1alpha2.TargetModel;
import io.fairlead.stub.profile.EngineProfiles;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The model servers of the demo: one where each endpoint of the folder says that one is. */
final class DemoStubs implements AutoCloseable {

  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final List<ModelServer> servers = new ArrayList<>();

  private DemoStubs() {}

  /** Starts all, or none if one can't listen. */
  static DemoStubs start(LocalResources resources, String profile, double timeScale) {
    var stubs = new DemoStubs();
    try {
      for (EndpointSlice slice : resources.slices()) {
        for (Endpoint endpoint : slice.getEndpoints()) {
          for (String address : endpoint.getAddresses()) {
            int port = slice.getPorts().getFirst().getPort();
            ModelServerConfig config =
                ModelServerConfig.builder(name(endpoint, address), targets(resources))
                    .listen(address, port)
                    .profile(EngineProfiles.shipped().named(profile))
                    .timeScale(timeScale)
                    .promptTokensDetails(true)
                    .build();
            stubs.servers.add(ModelServer.start(config, stubs.loops));
          }
        }
      }
      return stubs;
    } catch (RuntimeException e) {
      stubs.close();
      throw e;
    }
  }

  int count() {
    return servers.size();
  }

  @Override
  public void close() {
    servers.forEach(ModelServer::close);
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private static String name(Endpoint endpoint, String address) {
    return endpoint.getTargetRef() == null ? address : endpoint.getTargetRef().getName();
  }

  private static String[] targets(LocalResources resources) {
    Set<String> names = new LinkedHashSet<>();
    for (InferenceModel model : resources.models()) {
      List<TargetModel> targets = model.getSpec().targetModels();
      if (targets == null || targets.isEmpty()) {
        names.add(model.getSpec().modelName());
      } else {
        targets.forEach(target -> names.add(target.name()));
      }
    }
    return names.toArray(String[]::new);
  }
}
