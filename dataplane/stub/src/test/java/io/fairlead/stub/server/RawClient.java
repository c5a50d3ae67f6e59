package io.fairlead.stub.server;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A client that sends just the bytes it is told to; reads responses that have a content length. */
final class RawClient implements AutoCloseable {

  private final Socket socket;
  private final InputStream in;

  RawClient(ModelServer server) throws IOException {
    socket = new Socket(server.address().getAddress(), server.address().getPort());
    socket.setSoTimeout(20_000);
    in = new BufferedInputStream(socket.getInputStream());
  }

  void send(String bytes) throws IOException {
    socket.getOutputStream().write(bytes.getBytes(StandardCharsets.UTF_8));
    socket.getOutputStream().flush();
  }

  /** A whole POST of JSON with a content length. */
  static String post(String path, String body) {
    return "POST %s HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
        .formatted(path, body.getBytes(StandardCharsets.UTF_8).length, body);
  }

  /** Status line, headers and body of the next response. */
  String response() throws IOException {
    StringBuilder head = new StringBuilder();
    int length = 0;
    for (String line = line(); !line.isEmpty(); line = line()) {
      head.append(line).append('\n');
      if (line.startsWith("content-length: ")) {
        length = Integer.parseInt(line.substring("content-length: ".length()));
      }
    }
    return head + new String(in.readNBytes(length), StandardCharsets.UTF_8);
  }

  /** The next line, without its end. */
  String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new EOFException("connection ended after: " + line.toString(StandardCharsets.UTF_8));
      }
      if (b != '\r') {
        line.write(b);
      }
    }
    return line.toString(StandardCharsets.UTF_8);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
