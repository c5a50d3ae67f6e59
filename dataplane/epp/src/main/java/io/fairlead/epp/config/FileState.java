package io.fairlead.epp.config;

import io.fairlead.crds.document.DocumentException;
import io.fairlead.crds.document.FieldError;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The files that make up a config, at one moment.
 *
 * @param files sorted by name
 * @param hash changes with any byte or name
 */
public record FileState(List<TextFile> files, String hash) {

  /** Of all files: what comes by mistake must not take the heap of requests. */
  private static final int MOST_BYTES = 16 << 20;

  public FileState {
    files = List.copyOf(files);
  }

  /**
   * Text of a file that was to be read.
   *
   * @throws DocumentException if it is a folder
   */
  String text(Path path) throws DocumentException {
    for (TextFile file : files) {
      if (file.path().equals(path)) {
        return file.text();
      }
    }
    throw new DocumentException(
        List.of(new FieldError(path.toString(), 0, "", "is a folder, expected a file")));
  }

  /** The text of each file, by its path, in order. */
  Map<String, String> texts() {
    Map<String, String> texts = new LinkedHashMap<>();
    files.forEach(file -> texts.put(file.path().toString(), file.text()));
    return texts;
  }

  /** A file with its text. */
  public record TextFile(Path path, String text) {}

  /**
   * Reads files, and of folders the YAML and JSON files directly in them (hidden ones excepted).
   *
   * @throws IOException with a message that names the path, if one is missing, empty, too large or
   *     can't be read
   */
  public static FileState read(List<Path> paths) throws IOException {
    List<Path> all = new ArrayList<>();
    for (Path path : paths) {
      if (Files.isDirectory(path)) {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(path, FileState::isYaml)) {
          List<Path> inFolder = new ArrayList<>();
          entries.forEach(inFolder::add);
          inFolder.sort(null);
          all.addAll(inFolder);
        } catch (DirectoryIteratorException e) {
          throw new IOException(path + ": can't be listed: " + e.getMessage(), e);
        }
      } else {
        all.add(path);
      }
    }
    MessageDigest digest = sha256();
    List<TextFile> files = new ArrayList<>();
    int left = MOST_BYTES;
    for (Path path : all) {
      if (Files.exists(path) && !Files.isRegularFile(path)) {
        // A pipe would be waited for until somebody writes to it.
        throw new IOException(path + ": is no regular file; write to a file, and name that");
      }
      byte[] bytes;
      try (InputStream file = Files.newInputStream(path)) {
        bytes = file.readNBytes(left + 1);
      } catch (NoSuchFileException e) {
        throw new IOException(path + ": there is no such file", e);
      } catch (IOException e) {
        throw new IOException(path + ": can't be read: " + e.getMessage(), e);
      }
      if (bytes.length > left) {
        throw new IOException(
            path + ": with it the config has more than 16 MiB; remove what is no config");
      }
      left -= bytes.length;
      digest.update(path.toString().getBytes(StandardCharsets.UTF_8));
      digest.update((byte) 0);
      digest.update(sha256().digest(bytes));
      files.add(new TextFile(path, text(path, bytes)));
    }
    return new FileState(files, HexFormat.of().formatHex(digest.digest(), 0, 16));
  }

  private static String text(Path path, byte[] bytes) throws IOException {
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new IOException(path + ": is not UTF-8 text; save it as UTF-8", e);
    }
    if (text.isBlank()) {
      // Somebody is about to write it: taken for a list, it would be one of no endpoints.
      throw new IOException(
          path + ": is empty; where there is nothing to say, write so, such as endpoints: []");
    }
    return text;
  }

  private static boolean isYaml(Path path) {
    String name = String.valueOf(path.getFileName());
    return !name.startsWith(".")
        && !name.equals("kustomization.yaml")
        && (name.endsWith(".yaml") || name.endsWith(".yml") || name.endsWith(".json"))
        && !Files.isDirectory(path);
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
