package io.fairlead.crds.document;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The schemas that ship with this module. */
public final class Schemas {
  private static final String HERE = "/io/fairlead/crds/document/";
  private static final String MANIFESTS = "/io/fairlead/crds/manifests/";

  private Schemas() {}

  /** The schema of a document form of our own, {@code name.yaml} beside this class. */
  public static Schema document(String name) {
    return new Schema(load(HERE + name + ".yaml"));
  }

  /** A file of data of our own, {@code name.yaml} beside this class. */
  static JsonNode tree(String name) {
    return load(HERE + name + ".yaml");
  }

  /** The schema of the only version of the kind in the CRD {@code crds/manifests/plural.yaml}. */
  public static Schema resource(String plural) {
    ObjectNode schema =
        (ObjectNode)
            load(MANIFESTS + plural + ".yaml").at("/spec/versions/0/schema/openAPIV3Schema");
    return withObjectMeta(schema);
  }

  /**
   * The schema of a part of a kind.
   *
   * @param pointer from the kind's own schema to the part's
   */
  static Schema part(String plural, String pointer) {
    JsonNode part =
        load(MANIFESTS + plural + ".yaml").at("/spec/versions/0/schema/openAPIV3Schema" + pointer);
    if (part.isMissingNode()) {
      throw new IllegalStateException(plural + " has no " + pointer);
    }
    return new Schema(part);
  }

  /**
   * The schema of a Kubernetes kind in the form of {@link #document}, with the metadata that every
   * object has.
   */
  public static Schema kubernetes(String name) {
    return withObjectMeta((ObjectNode) load(HERE + name + ".yaml"));
  }

  private static Schema withObjectMeta(ObjectNode schema) {
    ObjectNode whole = schema.deepCopy();
    whole.withObject("/properties").set("metadata", load(HERE + "object-meta.yaml"));
    whole.withArray("/required").add("apiVersion").add("kind").add("metadata");
    return new Schema(whole);
  }

  private static JsonNode load(String resource) {
    try (InputStream in = Schemas.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException("not on the class path: " + resource);
      }
      SourceTree tree =
          SourceTree.parseOne(resource, new String(in.readAllBytes(), StandardCharsets.UTF_8));
      if (!tree.errors().isEmpty()) {
        throw new IllegalStateException(tree.errors().toString());
      }
      return tree.root();
    } catch (IOException e) {
      throw new UncheckedIOException(resource, e);
    }
  }
}
