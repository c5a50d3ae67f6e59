package io.fairlead.epp.external;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.DiscardUnknownFieldsParser;
import com.google.protobuf.Parser;
import com.google.protobuf.WireFormat;
import io.fairlead.scheduler.v1.SchedulerMessage;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * Reads a scheduler's messages, but none of too many decisions: each may be two bytes there, and
 * takes thirty times as much of the heap. So they are counted first. What this version does not
 * know is passed over: it would take as much.
 */
final class SchedulerMessages implements MethodDescriptor.Marshaller<SchedulerMessage> {

  private static final Parser<SchedulerMessage> KNOWN =
      DiscardUnknownFieldsParser.wrap(SchedulerMessage.parser());

  @Override
  public InputStream stream(SchedulerMessage message) {
    return new ByteArrayInputStream(message.toByteArray());
  }

  @Override
  public SchedulerMessage parse(InputStream from) {
    try {
      byte[] bytes = from.readAllBytes();
      if (decisions(bytes) > ExternalScheduling.MOST_DECISIONS) {
        throw new IllegalArgumentException(
            "a message of more than " + ExternalScheduling.MOST_DECISIONS + " decisions");
      }
      return KNOWN.parseFrom(bytes);
    } catch (IOException e) {
      throw Status.INTERNAL.withDescription("no message: " + e.getMessage()).asRuntimeException();
    }
  }

  private static int decisions(byte[] message) throws IOException {
    CodedInputStream in = CodedInputStream.newInstance(message);
    int decisions = 0;
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      if (WireFormat.getTagFieldNumber(tag) == SchedulerMessage.DECISIONS_FIELD_NUMBER) {
        decisions++;
      }
      if (!in.skipField(tag)) {
        break; // an end without a beginning: it is refused when it is read
      }
    }
    return decisions;
  }
}
