package io.fairlead.core.receipt;

/** Why the scheduler was not asked about an endpoint. */
public enum Exclusion {
  /** It failed the request before. */
  TRIED("failed this request before"),
  /** The gateway's subset leaves it out. */
  NOT_ALLOWED("is not among the endpoints that the gateway allows"),
  /** It is out. */
  OUT("is out"),
  /** It came back, and has the one request that it gets. */
  ON_TRIAL("is on trial, and has a request already"),
  /** It has just come, and others are known. */
  NEW("has just come, and nothing is known of it yet"),
  /** It gets fewer requests, the more it fails. */
  SPARED("is spared this one, since it failed others of late"),
  /** It gets fewer requests for a model, the more of them it refuses. */
  REFUSES("is spared this one, since it refused others for this model of late"),
  /** It has no room for one of this importance. */
  FULL("is full"),
  /** Its server would refuse the prompt, and another's would not. */
  TOO_SMALL("has a KV cache too small for this prompt"),
  /** It would drive out contexts of conversations that go on. */
  CONTEXTS("has no room for one more conversation"),
  /** Other adapters with requests in flight have all of its slots. */
  ADAPTERS("has no slot free for the adapter"),
  /** It can't keep the latency that the request asks for, and nor can any other. */
  LATE("is too busy for the latency that this request asks for"),
  /** Another was to be tried, alone. */
  OTHER_ON_TRIAL("stands back: the one that got it failed or was out of late, and was to be tried");

  private final String words;

  Exclusion(String words) {
    this.words = words;
  }

  /** To be read after the endpoint's name. */
  public String words() {
    return words;
  }
}
