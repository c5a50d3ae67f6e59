package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.ByteString;
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

  private static StreamedBodyResponse streamed(ProcessingResponse answer) {
    return answer.getRequestBody().getResponse().getBodyMutation().getStreamedResponse();
  }

  @Override
  public void onNext(ProcessingResponse answer) {
    if (ends > 0) {
      throw new IllegalStateException("answered after the end: " + answer);
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
