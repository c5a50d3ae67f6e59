package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

/**
 * Reads a proxy's messages. What is in them stays in the array that a message is read into: gRPC's
 * own way copies each body once more, and a long one twice.
 */
final class RequestMarshaller implements MethodDescriptor.Marshaller<ProxyMessage> {

  @Override
  public InputStream stream(ProxyMessage message) {
    throw new UnsupportedOperationException("only a proxy sends these");
  }

  @Override
  public ProxyMessage parse(InputStream stream) {
    try {
      return ProxyMessage.read(bytes(stream));
    } catch (InvalidProtocolBufferException e) {
      throw Status.INTERNAL
          .withDescription("the message is not a ProcessingRequest")
          .withCause(e)
          .asRuntimeException();
    } catch (IOException e) {
      throw new IllegalStateException("a message in memory can't be read", e);
    }
  }

  private static byte[] bytes(InputStream stream) throws IOException {
    if (!(stream instanceof KnownLength)) {
      return stream.readAllBytes(); // it was compressed
    }
    byte[] bytes = new byte[stream.available()];
    int read = stream.readNBytes(bytes, 0, bytes.length);
    if (read < bytes.length) {
      throw new EOFException("the message ends after " + read + " of " + bytes.length + " bytes");
    }
    return bytes;
  }
}
