package io.fairlead.stub.server;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** Answers in one piece when the last token is out. */
final class WholeReply implements Reply {

  private final Exchange exchange;
  private final CompletionRequest request;
  private final long number;
  private final long createdSeconds;
  private final Progress progress;

  WholeReply(Exchange exchange, CompletionRequest request, long number, long createdSeconds) {
    this.exchange = exchange;
    this.request = request;
    this.number = number;
    this.createdSeconds = createdSeconds;
    progress = new Progress(request);
  }

  @Override
  public void first(int choice, int cachedTokens) {
    progress.first(choice, cachedTokens);
  }

  @Override
  public void token(int choice, int n) {
    progress.token(choice, n);
  }

  @Override
  public void end(int choice) {
    if (progress.end(choice)) {
      answer();
    }
  }

  @Override
  public void fail(ApiError error) {
    exchange.error(error);
  }

  @Override
  public void abort() {
    answer();
  }

  private void answer() {
    ObjectNode whole =
        request.api() == Api.RESPONSES
            ? new ResponseJson(request, number, createdSeconds).whole(progress)
            : new ReplyJson(request, number, createdSeconds).whole(progress);
    exchange.completion(request.model(), whole);
  }
}
