package io.fairlead.stub.server;

/** How far the choices of a completion have come. */
final class Progress {

  private final int outputTokens;
  private final int n;
  private final int[] tokens;
  private final boolean[] ended;
  private int cachedTokens;
  private int open;

  Progress(CompletionRequest request) {
    outputTokens = request.outputTokens();
    n = request.n();
    open = request.choices().size();
    tokens = new int[open];
    ended = new boolean[open];
  }

  int choices() {
    return tokens.length;
  }

  void first(int choice, int cachedTokens) {
    tokens[choice] = 1;
    // A prompt's tokens are counted once, and so are those that its other choices find again.
    if (choice % n == 0) {
      this.cachedTokens += cachedTokens;
    }
  }

  void token(int choice, int n) {
    tokens[choice] = n;
  }

  /** Whether that was the last choice. */
  boolean end(int choice) {
    ended[choice] = true;
    return --open == 0;
  }

  boolean ended(int choice) {
    return ended[choice];
  }

  int tokens(int choice) {
    return tokens[choice];
  }

  /** Why the choice ended or ends now, in the API's words. */
  String finishReason(int choice) {
    return tokens[choice] == outputTokens ? "length" : "abort";
  }

  /** Tokens put out so far. */
  int allTokens() {
    int all = 0;
    for (int each : tokens) {
      all += each;
    }
    return all;
  }

  /** Tokens of all prompts that were cached when the first choice of each was admitted. */
  int cachedTokens() {
    return cachedTokens;
  }
}
