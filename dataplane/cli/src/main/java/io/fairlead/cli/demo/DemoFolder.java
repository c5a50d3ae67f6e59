package io.fairlead.cli.demo;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The folder of samples that the demo runs on: the user's own, or one written from the built-in
 * files.
 */
final class DemoFolder {

  private static final List<String> FILES = List.of("pool.yaml", "models.yaml", "endpoints.yaml");
  private static final String SAMPLE_PORT = "18000";
  private static final int FIRST_PORT = 18_000;
  private static final int LAST_PORT = 18_999;
  private static final List<String> ADDRESSES = List.of("127.0.0.1", "127.0.0.2", "127.0.0.3");

  private DemoFolder() {}

  /** Uses the folder as it is if it holds YAML, else writes the samples into it. */
  static void fill(Path folder) throws IOException {
    Files.createDirectories(folder);
    try (Stream<Path> files = Files.list(folder)) {
      if (files.anyMatch(file -> file.toString().matches(".*\\.ya?ml"))) {
        return;
      }
    }
    String port = Integer.toString(freePort());
    for (String file : FILES) {
      Files.writeString(folder.resolve(file), sample(file).replace(SAMPLE_PORT, port));
    }
  }

  private static String sample(String file) throws IOException {
    try (InputStream in = DemoFolder.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException("not packaged: " + file);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** One port that is free on all three addresses: they share it, as pods of a Deployment do. */
  private static int freePort() {
    for (int port = FIRST_PORT; port <= LAST_PORT; port++) {
      int candidate = port;
      if (ADDRESSES.stream().allMatch(address -> free(address, candidate))) {
        return port;
      }
    }
    throw new IllegalStateException(
        ("no port from %d to %d is free on each of %s. On macOS add the addresses first:"
                + " sudo ifconfig lo0 alias 127.0.0.2; sudo ifconfig lo0 alias 127.0.0.3")
            .formatted(FIRST_PORT, LAST_PORT, String.join(", ", ADDRESSES)));
  }

  private static boolean free(String address, int port) {
    try (var socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(InetAddress.getByName(address), port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
