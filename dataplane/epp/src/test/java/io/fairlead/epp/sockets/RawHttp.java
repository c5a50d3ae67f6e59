package io.fairlead.epp.sockets;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/** HTTP/1.1 on a plain socket, both sides: shows every byte and every close. */
public final class RawHttp implements Closeable {

  public final Socket socket;
  private final InputStream in;

  public RawHttp(Socket socket) throws IOException {
    this.socket = socket;
    // Else what is sent in two parts waits for the other side's acknowledgement, 40 ms each time.
    socket.setTcpNoDelay(true);
    this.in = new BufferedInputStream(socket.getInputStream());
  }

  public static RawHttp connect(int port) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(20_000); // a bound on a hang, not on a passing test
    return new RawHttp(socket);
  }

  /** One request or response. */
  @SuppressWarnings("ArrayRecordComponent") // read by tests, never compared
  public record Message(String start, Map<String, String> headers, byte[] body) {
    public int status() {
      return Integer.parseInt(start.split(" ", -1)[1]);
    }

    public String text() {
      return new String(body, StandardCharsets.UTF_8);
    }

    public String header(String name) {
      return headers.getOrDefault(name, "");
    }
  }

  public void send(String text) throws IOException {
    send(text.getBytes(StandardCharsets.UTF_8));
  }

  public void send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    socket.getOutputStream().flush();
  }

  public void post(String path, String body) throws IOException {
    post(path, body.getBytes(StandardCharsets.UTF_8));
  }

  public void post(String path, byte[] body) throws IOException {
    send(
        "POST "
            + path
            + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
            + body.length
            + "\r\n\r\n");
    send(body);
  }

  public void respond(int status, String headers, String body) throws IOException {
    send(
        "HTTP/1.1 "
            + status
            + " X\r\n"
            + headers
            + "Content-Length: "
            + body.getBytes(StandardCharsets.UTF_8).length
            + "\r\n\r\n"
            + body);
  }

  public void chunk(String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    send(Integer.toHexString(bytes.length) + "\r\n" + text + "\r\n");
  }

  /** Some of these bytes as one chunk. */
  public void chunk(byte[] bytes, int from, int to) throws IOException {
    send(Integer.toHexString(to - from) + "\r\n");
    send(Arrays.copyOfRange(bytes, from, to));
    send("\r\n");
  }

  public Message read() throws IOException {
    Message head = readHead();
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    if ("chunked".equals(head.header("transfer-encoding"))) {
      for (String chunk = readChunk(); !chunk.isEmpty(); chunk = readChunk()) {
        body.writeBytes(chunk.getBytes(StandardCharsets.ISO_8859_1));
      }
    } else {
      String length = head.header("content-length");
      body.writeBytes(in.readNBytes(length.isEmpty() ? 0 : Integer.parseInt(length)));
    }
    return new Message(head.start(), head.headers(), body.toByteArray());
  }

  /** Like {@link #read}, of a body whose length is told, without keeping it. */
  public Message readWithoutBody() throws IOException {
    Message head = readHead();
    in.skipNBytes(Long.parseLong(head.header("content-length")));
    return head;
  }

  /** Lets so many bytes of a body go by. */
  public void skip(long bytes) throws IOException {
    in.skipNBytes(bytes);
  }

  public Message readHead() throws IOException {
    String start = line();
    Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      headers.put(line.substring(0, colon), line.substring(colon + 1).strip());
    }
    return new Message(start, headers, new byte[0]);
  }

  /** One chunk's bytes as Latin-1; empty for the last one. */
  public String readChunk() throws IOException {
    int length = Integer.parseInt(line(), 16);
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException("cut off inside a chunk");
    }
    while (!line().isEmpty()) {
      // trailers, after the last one
    }
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  /** Chunks up to the last one. */
  public void readChunkToEnd() throws IOException {
    while (!readChunk().isEmpty()) {
      // more
    }
  }

  /** So many bytes of a body. */
  public String read(int length) throws IOException {
    return new String(in.readNBytes(length), StandardCharsets.UTF_8);
  }

  /** Everything up to the close. */
  public String rest() throws IOException {
    return new String(in.readAllBytes(), StandardCharsets.UTF_8);
  }

  /** Whether the other side has closed, cleanly or not. Waits for it. */
  public boolean closed() {
    try {
      return in.read() < 0;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new EOFException("closed after '" + line + "'");
      }
      if (b != '\r') {
        line.write(b);
      }
    }
    return line.toString(StandardCharsets.UTF_8);
  }

  public void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
