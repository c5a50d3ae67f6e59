package io.fairlead.epp.warmup;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;

/** A client of the gateway's: one connection, one request after the other. Blocks. */
final class GatewayClient implements AutoCloseable {

  private static final String END_OF_HEADERS = "\r\n\r\n";
  private static final String END_OF_CHUNKS = "\r\n0\r\n\r\n";
  private static final String LENGTH = "content-length:";

  private final Socket socket;
  private final byte[] buffer = new byte[64 << 10];

  /**
   * Connects.
   *
   * @param patience longest wait for more of an answer; at least 1 ms
   */
  GatewayClient(int port, Duration patience) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout((int) patience.toMillis());
  }

  /**
   * Sends it and reads the answer.
   *
   * @throws IOException also where the answer is no 200
   */
  void ask(Sample sample) throws IOException {
    OutputStream out = socket.getOutputStream();
    String head =
        """
        POST %s HTTP/1.1\r
        Host: warm-up\r
        User-Agent: fairlead\r
        Content-Type: application/json\r
        Accept: */*\r
        Content-Length: %d\r
        %s\r
        """
            .formatted(
                Sample.PATH,
                sample.body().length,
                sample.streamed() ? ModelServer.STREAM + ": 1\r\n" : "");
    out.write(head.getBytes(StandardCharsets.US_ASCII));
    out.write(sample.body());
    out.flush();
    readAnswer(socket.getInputStream());
  }

  private void readAnswer(InputStream in) throws IOException {
    StringBuilder seen = new StringBuilder();
    int headers = -1;
    while (headers < 0) {
      read(in, seen);
      headers = seen.indexOf(END_OF_HEADERS);
    }
    String head = seen.substring(0, headers).toLowerCase(Locale.ROOT);
    if (!head.startsWith("http/1.1 200")) {
      throw new IOException(seen.substring(0, seen.indexOf("\r\n")));
    }
    int length = head.indexOf(LENGTH);
    if (length < 0) {
      while (!seen.toString().endsWith(END_OF_CHUNKS)) {
        read(in, seen);
      }
    } else {
      String number = head.substring(length + LENGTH.length()).lines().findFirst().orElse("");
      int end = headers + END_OF_HEADERS.length() + Integer.parseInt(number.strip());
      while (seen.length() < end) {
        read(in, seen);
      }
    }
  }

  private void read(InputStream in, StringBuilder seen) throws IOException {
    int count = in.read(buffer);
    if (count < 0) {
      throw new EOFException("the gateway closed the connection");
    }
    seen.append(new String(buffer, 0, count, StandardCharsets.ISO_8859_1));
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
