package io.fairlead.epp.external;

import io.fairlead.scheduler.v1.Endpoint;
import io.fairlead.scheduler.v1.EndpointState;
import io.fairlead.scheduler.v1.PickerMessage;
import io.fairlead.scheduler.v1.Request;
import java.util.function.Consumer;

/**
 * Puts what a scheduler is to know into messages: as few as there can be, and each well below the 4
 * MiB that gRPC takes unless told otherwise.
 */
final class OutgoingMessages {

  private static final int FULL_BYTES = 1 << 20;

  private final int mostRequests;
  private final Consumer<PickerMessage> line;
  private PickerMessage.Builder message = PickerMessage.newBuilder();
  private int bytes;

  /**
   * @param mostRequests of one message
   */
  OutgoingMessages(int mostRequests, Consumer<PickerMessage> line) {
    this.mostRequests = mostRequests;
    this.line = line;
  }

  /**
   * To be called before endpoints are added, and those before states, and those before requests.
   */
  void removed(int endpoint) {
    message.addRemoved(endpoint);
    added(Integer.BYTES);
  }

  void add(Endpoint endpoint) {
    message.addEndpoints(endpoint);
    added(endpoint.getSerializedSize());
  }

  void add(EndpointState state) {
    message.addStates(state);
    added(state.getSerializedSize());
  }

  void add(Request request) {
    message.addRequests(request);
    added(request.getSerializedSize());
    if (message.getRequestsCount() >= mostRequests) {
      send();
    }
  }

  private void added(int more) {
    bytes += more;
    if (bytes >= FULL_BYTES) {
      send();
    }
  }

  /** Sends what is left. */
  void send() {
    if (bytes > 0) {
      line.accept(message.build());
      message = PickerMessage.newBuilder();
      bytes = 0;
    }
  }
}
