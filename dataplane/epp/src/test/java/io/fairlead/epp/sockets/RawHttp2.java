package io.fairlead.epp.sockets;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A client of HTTP/2 that sends what it is told to, right or wrong, asks for no leave, and shows
 * what becomes of each stream.
 */
public final class RawHttp2 implements Closeable {

  private static final int END_STREAM = 1;
  private static final int END_HEADERS = 4;
  private static final int CONTINUATION = Http2FrameTypes.CONTINUATION;
  private static final int MAX_FRAME = 16_384;

  /** By stream: the status of an answer that ended, or the name of the error of a reset. */
  public final Map<Integer, String> ends = new TreeMap<>();

  /** By stream: the head of an answer, and as much of its body as came. */
  public final Map<Integer, Http2Headers> heads = new TreeMap<>();

  public final Map<Integer, String> bodies = new TreeMap<>();

  /** The names of the errors of all goodbyes. */
  public final List<String> goAways = new ArrayList<>();

  /** Whether the other side has closed. */
  public boolean closed;

  private final Socket socket;
  private final DataInputStream in;
  private final DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
  private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false);
  private final Map<Integer, String> statuses = new TreeMap<>();
  private final ByteBuf unsent = Unpooled.buffer();
  private boolean holding;
  private int next = 1;

  public RawHttp2(int port) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(20_000); // a bound on a hang, not on a passing test
    socket.setTcpNoDelay(true);
    in = new DataInputStream(socket.getInputStream());
    socket.getOutputStream().write(ByteBufUtil.getBytes(Http2CodecUtil.connectionPrefaceBuf()));
    frame(Http2FrameTypes.SETTINGS, 0, 0, new byte[0]);
  }

  /** Sends a request of JSON whose head has these names and values besides; its stream. */
  public int post(String path, String json, String... more) throws IOException {
    int stream = begin(path, more);
    data(stream, json, true);
    return stream;
  }

  /** Sends the head of a request that has a body; its stream. An empty {@code path} is left out. */
  public int begin(String path, String... more) throws IOException {
    Http2Headers head = new DefaultHttp2Headers(false).method("POST").scheme("http").authority("x");
    if (!path.isEmpty()) {
      head.path(path);
    }
    head.add("content-type", "application/json");
    for (int i = 0; i < more.length; i += 2) {
      head.add(more[i], more[i + 1]);
    }
    int stream = next;
    next += 2;
    headers(stream, head, 0);
    return stream;
  }

  /** Ends a request with trailers, right or wrong. */
  public void trailers(int stream, String name, String value) throws IOException {
    headers(stream, new DefaultHttp2Headers(false).add(name, value), END_STREAM);
  }

  private void headers(int stream, Http2Headers head, int flags) throws IOException {
    ByteBuf block = Unpooled.buffer();
    try {
      encoder.encodeHeaders(stream, head, block);
    } catch (Http2Exception e) {
      throw new IOException(e);
    }
    for (int type = Http2FrameTypes.HEADERS; block.isReadable(); type = CONTINUATION) {
      byte[] part = new byte[Math.min(block.readableBytes(), MAX_FRAME)];
      block.readBytes(part);
      int own = type == CONTINUATION ? 0 : flags;
      frame(type, own | (block.isReadable() ? 0 : END_HEADERS), stream, part);
    }
  }

  /** Sends a piece of a body. */
  public void data(int stream, String text, boolean last) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    frame(Http2FrameTypes.DATA, last ? END_STREAM : 0, stream, bytes);
  }

  /** Sends any frame. */
  public void frame(int type, int flags, int stream, byte[] payload) throws IOException {
    unsent.writeMedium(payload.length).writeByte(type).writeByte(flags).writeInt(stream);
    unsent.writeBytes(payload);
    if (!holding) {
      send();
    }
  }

  /** Sends nothing until {@link #send}, and then all that was to be sent in one piece. */
  public void hold() {
    holding = true;
  }

  /** Sends what was held. */
  public void send() throws IOException {
    holding = false;
    byte[] bytes = ByteBufUtil.getBytes(unsent);
    unsent.clear();
    socket.getOutputStream().write(bytes);
  }

  /** Reads until so many streams have ended, or the other side has closed. */
  public void awaitEnds(int count) throws IOException {
    while (!closed && ends.size() < count) {
      read();
    }
  }

  /** Reads until the other side has closed. */
  public void awaitClose() throws IOException {
    while (!closed) {
      read();
    }
  }

  private void read() throws IOException {
    try {
      int length = in.read() << 16;
      if (length < 0) {
        closed = true;
        return;
      }
      length |= in.readUnsignedShort();
      int type = in.readUnsignedByte();
      int flags = in.readUnsignedByte();
      int stream = in.readInt();
      ByteBuf payload = Unpooled.wrappedBuffer(in.readNBytes(length));
      took(type, stream, payload);
      if ((type == Http2FrameTypes.HEADERS || type == Http2FrameTypes.DATA)
          && (flags & END_STREAM) != 0) {
        ends.putIfAbsent(stream, statuses.getOrDefault(stream, "no head"));
      }
    } catch (SocketException e) {
      closed = true;
    }
  }

  private void took(int type, int stream, ByteBuf payload) throws IOException {
    switch (type) {
      case Http2FrameTypes.HEADERS -> {
        try {
          Http2Headers head = decoder.decodeHeaders(stream, payload);
          CharSequence status = head.status();
          if (status != null) {
            heads.put(stream, head);
            statuses.put(stream, status.toString());
          }
        } catch (Http2Exception e) {
          throw new IOException(e);
        }
      }
      case Http2FrameTypes.DATA ->
          bodies.merge(stream, payload.toString(StandardCharsets.UTF_8), String::concat);
      case Http2FrameTypes.RST_STREAM -> ends.putIfAbsent(stream, error(payload.readInt()));
      case Http2FrameTypes.GO_AWAY -> goAways.add(error(payload.skipBytes(4).readInt()));
      default -> {}
    }
  }

  private static String error(int code) {
    return String.valueOf(Http2Error.valueOf(code));
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
