package io.fairlead.epp.checkpoint;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fairlead.core.EndpointSpec;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.document.DocumentException;
import io.fairlead.epp.datalayer.EndpointSet;
import io.netty.util.NetUtil;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A checkpoint as JSON. */
final class CheckpointText {

  /** Of the form that is written, and the only one that is read. */
  static final int VERSION = 1;

  private static final JsonMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

  private CheckpointText() {}

  /** A text that is no checkpoint of this source; the message names the field. */
  static final class UnusableException extends Exception {
    private static final long serialVersionUID = 1L;

    UnusableException(String message) {
      super(message);
    }
  }

  private record Page(
      int version,
      @Nullable String source,
      @Nullable String savedAt,
      int replicas,
      @Nullable String document,
      @Nullable Endpoints endpoints) {}

  private record Endpoints(
      int matching, @Nullable List<Spec> ready, @Nullable Map<String, @Nullable String> places) {}

  private record Spec(
      @Nullable String name,
      @Nullable String incarnation,
      @Nullable String address,
      int port,
      @Nullable Map<String, @Nullable String> labels) {}

  /**
   * Writes one.
   *
   * @param source what it is a checkpoint of
   */
  static String write(String source, Checkpoint checkpoint) {
    List<Spec> ready =
        checkpoint.endpoints().ready().stream()
            .map(
                e ->
                    new Spec(
                        e.name(),
                        e.incarnation(),
                        e.address(),
                        e.port(),
                        new TreeMap<>(e.labels())))
            .toList();
    Page page =
        new Page(
            VERSION,
            source,
            checkpoint.savedAt().toString(),
            checkpoint.replicas(),
            ConfigDocument.write(checkpoint.config()),
            new Endpoints(
                checkpoint.endpoints().matching(),
                ready,
                new TreeMap<>(checkpoint.endpoints().places())));
    try {
      return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(page);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a page of plain values could not be written", e);
    }
  }

  /**
   * Reads {@link #write}.
   *
   * @param source what it has to be a checkpoint of
   */
  static Checkpoint read(String source, String text) throws UnusableException {
    Page page = page(text);
    if (page.version() != VERSION) {
      throw new UnusableException(
          "version: is " + page.version() + ", and this picker reads " + VERSION);
    }
    if (!source.equals(page.source())) {
      throw new UnusableException(
          "source: is " + page.source() + ", and this picker reads " + source);
    }
    try {
      Endpoints endpoints = present("endpoints", page.endpoints());
      return new Checkpoint(
          Instant.parse(present("savedAt", page.savedAt())),
          ConfigDocument.read("document", present("document", page.document())).value(),
          new EndpointSet(
              specs(present("endpoints.ready", endpoints.ready())),
              endpoints.matching(),
              texts("endpoints.places", endpoints.places())),
          page.replicas());
    } catch (DocumentException | DateTimeException | IllegalArgumentException e) {
      throw new UnusableException(String.valueOf(e.getMessage()));
    }
  }

  private static Page page(String text) throws UnusableException {
    try {
      Page page = JSON.readValue(text, Page.class);
      if (page == null) {
        throw new UnusableException("it is null");
      }
      return page;
    } catch (JsonProcessingException e) {
      throw new UnusableException("it is no such JSON: " + e.getOriginalMessage());
    }
  }

  private static List<EndpointSpec> specs(List<Spec> specs) throws UnusableException {
    Set<String> names = new HashSet<>();
    List<EndpointSpec> read = new ArrayList<>(specs.size());
    for (int i = 0; i < specs.size(); i++) {
      String path = "endpoints.ready[" + i + "]";
      Spec spec = present(path, specs.get(i));
      String name = present(path + ".name", spec.name());
      String address = present(path + ".address", spec.address());
      if (!names.add(name)) {
        throw new UnusableException(path + ".name: " + name + " is listed twice");
      }
      if (!NetUtil.isValidIpV4Address(address) && !NetUtil.isValidIpV6Address(address)) {
        throw new UnusableException(path + ".address: " + address + " is no IP address");
      }
      if (spec.port() < 1 || spec.port() > 65_535) {
        throw new UnusableException(path + ".port: " + spec.port() + " is not from 1 to 65535");
      }
      read.add(
          new EndpointSpec(
              name,
              present(path + ".incarnation", spec.incarnation()),
              address,
              spec.port(),
              texts(path + ".labels", spec.labels())));
    }
    return read;
  }

  private static Map<String, String> texts(
      String path, @Nullable Map<String, @Nullable String> given) throws UnusableException {
    Map<String, String> texts = new HashMap<>();
    for (Map.Entry<String, @Nullable String> each : present(path, given).entrySet()) {
      texts.put(each.getKey(), present(path + "." + each.getKey(), each.getValue()));
    }
    return texts;
  }

  private static <T> T present(String path, @Nullable T value) throws UnusableException {
    if (value == null) {
      throw new UnusableException(path + ": is missing");
    }
    return value;
  }
}
