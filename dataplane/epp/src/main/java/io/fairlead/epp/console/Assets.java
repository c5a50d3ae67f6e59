package io.fairlead.epp.console;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The console's files, as they are in the jar: what is not listed here can't be asked for. */
final class Assets {

  private static final List<String> NAMES =
      List.of(
          "index.html",
          "login.html",
          "console.css",
          "icon.svg",
          "main.js",
          "stream.js",
          "dom.js",
          "format.js",
          "chart.js",
          "pool.js",
          "endpoints.js",
          "queues.js",
          "decisions.js",
          "receipt.js",
          "shadows.js",
          "config.js");

  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "svg", "image/svg+xml",
          "js", "text/javascript; charset=utf-8");

  private final Map<String, Asset> byName;

  /**
   * A file.
   *
   * @param type its media type
   * @param tag changes with its content
   */
  record Asset(String text, String type, String tag) {}

  private Assets(Map<String, Asset> byName) {
    this.byName = byName;
  }

  /**
   * Reads them all.
   *
   * @throws IllegalStateException if one is not in the jar
   */
  static Assets load() {
    return new Assets(NAMES.stream().collect(Collectors.toMap(Function.identity(), Assets::read)));
  }

  @Nullable Asset get(String name) {
    return byName.get(name);
  }

  private static Asset read(String name) {
    try (InputStream in = Assets.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("not packaged: " + name);
      }
      byte[] bytes = in.readAllBytes();
      String type = TYPES.getOrDefault(name.substring(name.indexOf('.') + 1), "");
      return new Asset(new String(bytes, StandardCharsets.UTF_8), type, tag(bytes));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String tag(byte[] bytes) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
      return '"' + HexFormat.of().formatHex(digest, 0, 8) + '"';
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
