package io.fairlead.lab.hop;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.util.Locale;

/**
 * A connection that speaks just enough HTTP/1.1 to cost next to nothing beside what it measures.
 */
final class PlainConnection implements Closeable {

  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;
  private final byte[] buffer = new byte[64 << 10];
  private int from;
  private int to;

  PlainConnection(URI target) throws IOException {
    socket = new Socket(target.getHost(), target.getPort());
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(120_000);
    in = socket.getInputStream();
    out = socket.getOutputStream();
  }

  /** Sends bytes as they are. */
  void send(byte[] bytes) throws IOException {
    out.write(bytes);
  }

  /** Reads an answer to its end and gives its status. */
  int read() throws IOException {
    String status = line();
    long length = 0;
    boolean chunked = false;
    for (String line = line(); !line.isEmpty(); line = line()) {
      String lower = line.toLowerCase(Locale.ROOT);
      if (lower.startsWith("content-length:")) {
        length = Long.parseLong(lower.substring("content-length:".length()).strip());
      } else if (lower.startsWith("transfer-encoding:")) {
        chunked = lower.contains("chunked");
      }
    }
    if (chunked) {
      for (int size = chunk(); size > 0; size = chunk()) {
        skip(size);
        line();
      }
      while (!line().isEmpty()) {
        // trailers
      }
    } else {
      skip(length);
    }
    return Integer.parseInt(status.split(" ", -1)[1]);
  }

  private int chunk() throws IOException {
    String size = line();
    int semicolon = size.indexOf(';');
    return Integer.parseInt(semicolon < 0 ? size : size.substring(0, semicolon), 16);
  }

  private void skip(long bytes) throws IOException {
    long left = bytes;
    while (left > 0) {
      fill();
      int next = (int) Math.min(left, to - from);
      from += next;
      left -= next;
    }
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    while (true) {
      fill();
      int at = from;
      while (at < to && buffer[at] != '\n') {
        at++;
      }
      line.append(new String(buffer, from, at - from, ISO_8859_1));
      from = at;
      if (at < to) {
        from++;
        int length = line.length();
        if (length > 0 && line.charAt(length - 1) == '\r') {
          line.setLength(length - 1);
        }
        return line.toString();
      }
    }
  }

  private void fill() throws IOException {
    if (from == to) {
      from = 0;
      to = in.read(buffer);
      if (to < 0) {
        to = 0;
        throw new EOFException("closed before the answer's end");
      }
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
