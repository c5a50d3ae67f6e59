package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.service.ext_proc.v3.BodyMutation;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.StreamedBodyResponse;
import io.grpc.Status;
import io.grpc.stub.CallStreamObserver;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The proxy's end of a stream: keeps what it is told, and takes no more when told so. */
final class FakeProxy extends CallStreamObserver<ProcessingResponse> {

  final List<ProcessingResponse> answers = new ArrayList<>();
  int requested;
  int ends;
  boolean ready = true;

  /** Whether it takes no message, in an error. */
  boolean failing;

  @Nullable Status status;

  /** The kinds of the answers, in order. */
  List<String> kinds() {
    return answers.stream().map(answer -> answer.getResponseCase().name()).toList();
  }

  /** The request body as the endpoint gets it. */
  ByteString requestBody() {
    return answers.stream()
        .filter(ProcessingResponse::hasRequestBody)
        .map(answer -> streamed(answer).getBody())
        .reduce(ByteString.EMPTY, ByteString::concat);
  }

  /** Of each piece of the request body, whether it says that it is the last. */
  List<Boolean> requestBodyEnds() {
    return answers.stream()
        .filter(ProcessingResponse::hasRequestBody)
        .map(answer -> streamed(answer).getEndOfStream())
        .toList();
  }

  /** The response body as the client gets it, of which these pieces were shown. */
  String responseBody(String... shown) {
    StringBuilder text = new StringBuilder();
    int piece = 0;
    for (ProcessingResponse answer : answers) {
      if (answer.hasResponseBody()) {
        BodyMutation mutation = answer.getResponseBody().getResponse().getBodyMutation();
        text.append(
            switch (mutation.getMutationCase()) {
              case STREAMED_RESPONSE -> mutation.getStreamedResponse().getBody().toStringUtf8();
              case BODY -> mutation.getBody().toStringUtf8();
              case CLEAR_BODY -> "";
              case MUTATION_NOT_SET -> shown[piece];
            });
        piece++;
      }
    }
    return text.toString();
  }

  private static StreamedBodyResponse streamed(ProcessingResponse answer) {
    return answer.getRequestBody().getResponse().getBodyMutation().getStreamedResponse();
  }

  @Override
  public void onNext(ProcessingResponse answer) {
    if (ends > 0) {
      throw new IllegalStateException("answered after the end: " + answer);
    }
    if (failing) {
      throw new IllegalStateException("as the test wants it");
    }
    answers.add(answer);
  }

  @Override
  public void onError(Throwable cause) {
    ends++;
    status = Status.fromThrowable(cause);
  }

  @Override
  public void onCompleted() {
    ends++;
    status = Status.OK;
  }

  @Override
  public boolean isReady() {
    return ready;
  }

  @Override
  public void request(int count) {
    requested += count;
  }

  @Override
  public void setOnReadyHandler(Runnable handler) {}

  @Override
  public void disableAutoInboundFlowControl() {}

  @Override
  public void setMessageCompression(boolean enable) {}
}
