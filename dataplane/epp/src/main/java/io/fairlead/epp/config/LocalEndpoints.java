package io.fairlead.epp.config;

import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointConditions;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointPort;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fairlead.core.EndpointSpec;
import io.fairlead.crds.document.DocumentException;
import io.fairlead.crds.document.FieldError;
import io.fairlead.crds.local.LocalResources;
import io.fairlead.crds.local.StaticEndpoint;
import io.fairlead.epp.datalayer.EndpointSet;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Endpoints that stand in files. */
final class LocalEndpoints {

  private final String origin;
  private final List<EndpointSpec> ready = new ArrayList<>();
  private final List<FieldError> errors = new ArrayList<>();
  private final Set<String> names = new HashSet<>();

  /** Names of those that may get requests, by where they are. */
  private final Map<InetSocketAddress, String> places = new HashMap<>();

  private int matching;

  private LocalEndpoints(String origin) {
    this.origin = origin;
  }

  /**
   * The endpoints of all slices and lists.
   *
   * @throws DocumentException if one has no IP address, or two have one name, or one address and
   *     port and may get requests
   */
  static EndpointSet of(String origin, LocalResources resources) throws DocumentException {
    LocalEndpoints endpoints = new LocalEndpoints(origin);
    resources.slices().forEach(endpoints::slice);
    endpoints.list(resources.endpoints());
    if (!endpoints.errors.isEmpty()) {
      throw new DocumentException(endpoints.errors);
    }
    return new EndpointSet(endpoints.ready, endpoints.matching);
  }

  /** Two namespaces may each have one of a name: only then it takes more to tell them apart. */
  private void list(List<StaticEndpoint> listed) {
    Map<String, Long> namesakes =
        listed.stream().collect(Collectors.groupingBy(StaticEndpoint::name, Collectors.counting()));
    for (int i = 0; i < listed.size(); i++) {
      StaticEndpoint e = listed.get(i);
      boolean alone = e.namespace().isEmpty() || namesakes.getOrDefault(e.name(), 1L) == 1;
      String name = alone ? e.name() : e.namespace() + "/" + e.name();
      add("endpoints[" + i + "]", true, name, e.address(), e.address(), e.port(), e.labels());
    }
  }

  private void slice(EndpointSlice slice) {
    for (int i = 0; i < slice.getEndpoints().size(); i++) {
      Endpoint endpoint = slice.getEndpoints().get(i);
      String path = slice.getMetadata().getName() + ": endpoints[" + i + "]";
      // An endpoint's addresses are alternatives; readers of slices take the first.
      String address = endpoint.getAddresses().getFirst();
      String base = name(slice, endpoint, i);
      String incarnation =
          endpoint.getTargetRef() != null && endpoint.getTargetRef().getUid() != null
              ? endpoint.getTargetRef().getUid()
              : address;
      for (int rank = 0; rank < slice.getPorts().size(); rank++) {
        EndpointPort port = slice.getPorts().get(rank);
        if (port.getPort() == null) {
          errors.add(
              new FieldError(
                  origin, 0, "ports[" + rank + "].port", "is missing; set the port to send to"));
          continue;
        }
        String name = slice.getPorts().size() == 1 ? base : base + "-rank-" + rank;
        add(path, ready(endpoint), name, incarnation, address, port.getPort(), labels(endpoint));
      }
    }
  }

  private void add(
      String path,
      boolean mayServe,
      String name,
      String incarnation,
      String address,
      int port,
      Map<String, String> labels) {
    InetAddress parsed = NetUtil.createInetAddressFromIpAddressString(address);
    if (parsed == null) {
      errors.add(
          new FieldError(origin, 0, path, "has address \"" + address + "\"; set an IP address"));
      return;
    }
    if (!names.add(name)) {
      errors.add(
          new FieldError(
              origin, 0, path, "is a second endpoint named \"" + name + "\"; name each its own"));
      return;
    }
    matching++;
    if (mayServe) {
      String there = places.putIfAbsent(new InetSocketAddress(parsed, port), name);
      if (there != null) {
        errors.add(
            new FieldError(
                origin,
                0,
                path,
                "is where \"%s\" is, at %s port %d; list each server once"
                    .formatted(there, address, port)));
        return;
      }
      ready.add(new EndpointSpec(name, incarnation, address, port, labels));
    }
  }

  private static String name(EndpointSlice slice, Endpoint endpoint, int index) {
    if (endpoint.getTargetRef() != null && endpoint.getTargetRef().getName() != null) {
      return endpoint.getTargetRef().getName();
    }
    return endpoint.getHostname() != null
        ? endpoint.getHostname()
        : slice.getMetadata().getName() + "-" + index;
  }

  private static boolean ready(Endpoint endpoint) {
    EndpointConditions conditions = endpoint.getConditions();
    return conditions == null
        || (!Boolean.FALSE.equals(conditions.getReady())
            && !Boolean.TRUE.equals(conditions.getTerminating()));
  }

  private static Map<String, String> labels(Endpoint endpoint) {
    return endpoint.getZone() == null
        ? Map.of()
        : Map.of("topology.kubernetes.io/zone", endpoint.getZone());
  }
}
