package io.fairlead.core;

import io.fairlead.core.account.ModelTokens;
import io.fairlead.core.account.PrefillLine;
import io.fairlead.core.account.TokenEstimate;
import io.fairlead.core.external.Advice;
import io.fairlead.core.prefix.BlockHasher;
import io.fairlead.core.prefix.ExactIndex;
import io.fairlead.core.prefix.PrefixIndex;
import io.fairlead.core.prefix.PromptTokens;
import io.fairlead.core.prefix.TokenChain;
import io.fairlead.core.receipt.HeaderReads;
import io.fairlead.core.scheduling.CompiledModel;
import io.fairlead.core.scheduling.PartitionedCandidates;
import io.fairlead.core.view.PromptBlocks;
import io.fairlead.crds.config.Criticality;
import io.fairlead.plugin.CycleState;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.WaitingRequest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The request being decided with the endpoints that it may go to: one object, set anew for each
 * decision. Prefix matches are looked up for all candidates when the first is asked for.
 */
final class CurrentRequest implements InferenceRequest, PartitionedCandidates, PromptBlocks {

  private static final EndpointState[] NO_ENDPOINTS = {};
  private static final RequestFacts NOBODY = new RequestFacts("", 0, new long[0], 0, -1, 0);

  private final PrefixIndex prefixes;
  private final ExactIndex exact;
  private final TokenEstimate estimate;
  private RequestFacts facts = NOBODY;
  private Criticality criticality = Criticality.STANDARD;
  private long now;
  private long arrivedAt;
  private final Notes notes = new Notes();
  private @Nullable Advice advice;
  private @Nullable HeaderReads reads;
  private String targetModel = "";
  private long firstTokenBy = WaitingRequest.NEVER;
  private long timePerOutputToken = WaitingRequest.NEVER;
  private long salt;

  /** Of the prompt, for the target model: worked out once, as scorers ask for each candidate. */
  private int promptTokens;

  private double blockTokens;
  private int maxBlocks = Integer.MAX_VALUE;
  private boolean matchedKnown;

  /** What engines' own events are looked up by; null where they are no help. */
  private @Nullable PromptTokens tokens;

  private long adapterSalt;

  /** Whether anybody holds anything of the prompt, as far as that is known. */
  private boolean matched;

  /** Of each candidate, while the tokens of all are worked out. */
  private int[] blocks = {};

  /** The candidates are places in {@code endpoints}: all of them, or those in {@code chosen}. */
  private EndpointState[] endpoints = NO_ENDPOINTS;

  private EndpointColumns columns = new EndpointColumns(0, 0);
  private int[] chosen = {};

  /** The same as a bit for each place. */
  private long[] chosenBits = {};

  private boolean all;
  private int size;

  /** Of the picker; of the pool and not of a request. */
  private int replicas = 1;

  /** Other pickers that tell of their requests. */
  private int telling;

  private double goesOn;

  CurrentRequest(PrefixIndex prefixes, ExactIndex exact, TokenEstimate estimate) {
    this.prefixes = prefixes;
    this.exact = exact;
    this.estimate = estimate;
  }

  /**
   * The request to decide from now on.
   *
   * @param arrived when it came, in nanoseconds as {@code time}: it may have waited since
   */
  void start(
      long time, long arrived, RequestFacts request, Criticality importance, EndpointSet pool) {
    now = time;
    arrivedAt = arrived;
    facts = request;
    criticality = importance;
    advice = null;
    targetModel = request.model();
    firstTokenBy = WaitingRequest.NEVER;
    timePerOutputToken = WaitingRequest.NEVER;
    matchedKnown = false;
    endpoints = pool.eligible();
    columns = pool.columns();
    everybody();
  }

  /** Every endpoint is a candidate. */
  void everybody() {
    all = true;
    size = endpoints.length;
  }

  /** Leaves no candidate but those that {@link #candidate} adds. */
  void none() {
    all = false;
    size = 0;
    if (chosen.length < endpoints.length) {
      chosen = new int[endpoints.length];
      chosenBits = new long[Math.ceilDiv(endpoints.length, Long.SIZE)];
    }
    Arrays.fill(chosenBits, 0);
  }

  /** Leaves as candidates those that have a bit here, by place. */
  void only(long[] bits) {
    none();
    System.arraycopy(bits, 0, chosenBits, 0, bits.length);
    int[] into = chosen;
    int count = 0;
    for (int word = 0; word < bits.length; word++) {
      for (long left = bits[word]; left != 0; left &= left - 1) {
        into[count++] = word * Long.SIZE + Long.numberOfTrailingZeros(left);
      }
    }
    size = count;
  }

  /** A scheduler outside of the process wants it there; null for nowhere. */
  void advice(@Nullable Advice given) {
    advice = given;
  }

  /** Has the model draw its target, and ask for what the request itself does not. */
  void target(CompiledModel of) {
    target(of.target(this));
    firstTokenBy = FlowHeaders.firstTokenBy(facts.headers(), arrivedAt, of);
    timePerOutputToken = FlowHeaders.timePerOutputToken(facts.headers(), of);
  }

  /** Has this target, whatever its model would draw. */
  void target(String target) {
    targetModel = target;
    salt = PrefixIndex.salt(target);
    PromptSize prompt = facts.prompt();
    ModelTokens model = estimate.of(target);
    PromptTokens cut = facts.tokens();
    tokens = exact.knowsAny() ? cut : null;
    if (cut == null || prompt.textBytes() == 0) {
      promptTokens = model.tokens(prompt.textBytes(), prompt.mediaTokens());
      blockTokens = model.blockTokens(prompt.textBytes(), prompt.mediaTokens());
    } else {
      promptTokens = cut.count();
      blockTokens = (double) cut.count() * BlockHasher.BLOCK_BYTES / prompt.textBytes();
    }
  }

  /** Adds the endpoint in this place of those that {@link #start} was given. */
  void candidate(int place) {
    chosen[size++] = place;
    chosenBits[place / Long.SIZE] |= 1L << place;
  }

  /** A bit for each place whose endpoint is a candidate, where not all are; not to be changed. */
  long[] chosenBits() {
    return chosenBits;
  }

  EndpointState endpoint(int index) {
    return endpoints[place(index)];
  }

  @Override
  public int place(int index) {
    if (index >= size) {
      throw new IndexOutOfBoundsException("candidate " + index + " of " + size);
    }
    return all ? index : chosen[index];
  }

  long salt() {
    return salt;
  }

  /** What {@link #cachedTokens} says, for a number of blocks that is known already. */
  int cachedTokensOf(int blocks) {
    return PrefillLine.cachedTokens(promptTokens, blocks, blockTokens);
  }

  /**
   * Tokens of the prompt that an endpoint is believed to hold, whether or not it is a candidate.
   */
  int cachedTokensAt(EndpointState endpoint) {
    lookUp();
    return heldTokens(endpoint.slot());
  }

  /** What its engine says of an endpoint, or else what was sent there; after {@link #lookUp}. */
  private int heldTokens(int slot) {
    PromptTokens prompt = tokens;
    if (prompt == null || !exact.knows(slot)) {
      return cachedTokensOf(prefixes.held(slot));
    }
    // Of a prompt without text its size is an estimate, which the tokens may exceed.
    int told = Math.min(exact.tokens(slot, prompt), Math.max(0, promptTokens - 1));
    return exact.knowsAll(slot) ? told : Math.max(told, cachedTokensOf(prefixes.held(slot)));
  }

  /** The same in blocks of the index of what was sent. */
  private int heldBlocks(int slot) {
    return tokens == null || !exact.knows(slot)
        ? prefixes.held(slot)
        : Math.min(cacheableBlocks(), (int) Math.round(heldTokens(slot) / blockTokens));
  }

  /**
   * How many leading blocks of the prompt were sent to a candidate before and are not forgotten.
   */
  int learnedBlocks(int index) {
    lookUp();
    return prefixes.held(slot(index));
  }

  /** Tokens of the prompt that nobody has sent there before, as far as is remembered. */
  double newTokens(int index) {
    return (cacheableBlocks() - learnedBlocks(index)) * blockTokens;
  }

  /**
   * Its engine will hold the whole prompt.
   *
   * @return how many keys of it that holds already
   */
  int expect(int index) {
    lookUp();
    PromptTokens prompt = tokens;
    int slot = slot(index);
    if (prompt == null || !exact.knows(slot)) {
      return 0;
    }
    int held = exact.held(slot);
    exact.expect(slot, adapterSalt, prompt, held);
    return held;
  }

  /** What an adapter's blocks are told from those of its base by. */
  long adapterSalt() {
    return adapterSalt;
  }

  /**
   * Whether some endpoints have what others would have to make or load for it: half of its prompt,
   * or its adapter.
   */
  boolean isAtHomeSomewhere() {
    for (EndpointState endpoint : endpoints) {
      if (endpoint.adapters().needed(targetModel)
          || (promptTokens > 0 && cachedTokensAt(endpoint) >= promptTokens / 2)) {
        return true;
      }
    }
    return false;
  }

  /** How many of the prompt's blocks the index may know. */
  int cacheableBlocks() {
    return Math.min(facts.blocks().length, maxBlocks);
  }

  /** From the next request on, only so many leading blocks of a prompt are matched. */
  void maxBlocks(int most) {
    maxBlocks = most;
  }

  /** From the next request on, so many pickers share the pool. */
  void replicas(int count) {
    if (count < 1) {
      throw new IllegalArgumentException("replicas is " + count + "; a pool has 1 or more");
    }
    replicas = count;
  }

  /** From the next request on, so many other pickers tell of what they send. */
  void telling(int count) {
    telling = count;
  }

  /** A context that rests is gone on with this likely, as far as is known now. */
  void goesOn(double likely) {
    goesOn = likely;
  }

  /** The profiles start, perhaps once more: what plugins noted for one another is gone. */
  void forgetNotes() {
    notes.clear();
  }

  /** Lets go of the request, so that its memory can be. */
  void done() {
    facts = NOBODY;
    advice = null;
    tokens = null;
    reads = null;
    notes.clear();
    endpoints = NO_ENDPOINTS;
    size = 0;
  }

  @Override
  public String model() {
    return facts.model();
  }

  @Override
  public String targetModel() {
    return targetModel;
  }

  @Override
  public int promptTokens() {
    return promptTokens;
  }

  @Override
  public int blockCount() {
    return cacheableBlocks();
  }

  @Override
  public long now() {
    return now;
  }

  @Override
  public long firstTokenBy() {
    return firstTokenBy;
  }

  @Override
  public long timePerOutputToken() {
    return timePerOutputToken;
  }

  @Override
  public boolean critical() {
    return criticality == Criticality.CRITICAL;
  }

  @Override
  public boolean sheddable() {
    return criticality == Criticality.SHEDDABLE;
  }

  @Override
  public @Nullable String header(String name) {
    String value = facts.headers().first(name);
    HeaderReads noting = reads;
    if (noting != null) {
      noting.read(name, value);
    }
    return value;
  }

  /** From now on, until the request is done, the headers that are asked for are noted there. */
  void noteHeaders(HeaderReads noting) {
    reads = noting;
  }

  /**
   * Fills in what {@link #matchedBlocks} and {@link #cachedTokens} say, of all endpoints by place;
   * false where nobody holds anything.
   */
  boolean held(int[] ofBlocks, int[] ofTokens) {
    lookUp();
    if (tokens == null) {
      if (matched) {
        prefixes.held(columns.slot, endpoints.length, ofBlocks);
        for (int place = 0; place < endpoints.length; place++) {
          ofTokens[place] = cachedTokensOf(ofBlocks[place]);
        }
      }
      return matched;
    }
    boolean some = false;
    for (int place = 0; place < endpoints.length; place++) {
      ofBlocks[place] = heldBlocks(columns.slot[place]);
      ofTokens[place] = heldTokens(columns.slot[place]);
      some |= ofBlocks[place] > 0 || ofTokens[place] > 0;
    }
    return some;
  }

  @Override
  public long prefixKey() {
    int blocks = facts.blocks().length;
    return blocks == 0 ? salt : salt ^ facts.blocks()[Integer.highestOneBit(blocks) - 1];
  }

  @Override
  public CycleState cycle() {
    return notes;
  }

  @Override
  public long prefixHash(int index) {
    return salt ^ facts.blocks()[index];
  }

  @Override
  public int maxOutputTokens() {
    return facts.maxOutputTokens();
  }

  @Override
  public long seed() {
    return facts.seed();
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public Endpoint get(int index) {
    return endpoint(index);
  }

  @Override
  public int matchedBlocks(int index) {
    int slot = columns.slot[place(index)];
    lookUp();
    return heldBlocks(slot);
  }

  private void lookUp() {
    if (!matchedKnown) {
      matched = prefixes.lookUp(salt, facts.blocks(), cacheableBlocks());
      matchedKnown = true;
      if (tokens != null) {
        adapterSalt = isAdapter() ? TokenChain.salt(targetModel) : 0;
        exact.lookUp(adapterSalt, tokens);
      }
    }
  }

  /** Whether those who tell of their caches know the target model as a LoRA adapter. */
  private boolean isAdapter() {
    for (EndpointState endpoint : endpoints) {
      if (exact.knows(endpoint.slot())) {
        return endpoint.adapters().needed(targetModel);
      }
    }
    return false;
  }

  @Override
  public int queueDepth(int index) {
    return columns.queueDepth[place(index)];
  }

  @Override
  public double kvUsage(int index) {
    return columns.kvUsage[place(index)];
  }

  @Override
  public int slot(int index) {
    return columns.slot[place(index)];
  }

  @Override
  public void cachedTokens(double[] into) {
    if (size == 0) {
      return;
    }
    lookUp();
    if (tokens != null) {
      for (int i = 0; i < size; i++) {
        into[i] = heldTokens(columns.slot[place(i)]);
      }
      return;
    }
    if (!matched) {
      Arrays.fill(into, 0, size, 0);
      return;
    }
    if (blocks.length < size) {
      blocks = new int[size + size / 2];
    }
    int[] blocks = this.blocks;
    int[] slots = columns.slot;
    if (all) {
      prefixes.held(slots, size, blocks);
    } else {
      for (int i = 0; i < size; i++) {
        blocks[i] = prefixes.held(slots[chosen[i]]);
      }
    }
    double most = Math.max(0, promptTokens - 1);
    double each = blockTokens;
    // No branch in here: the compiler makes vector instructions of it.
    for (int i = 0; i < size; i++) {
      into[i] = Math.min(most, Math.floor(blocks[i] * each));
    }
  }

  @Override
  public int replicas() {
    return replicas;
  }

  @Override
  public double timesKnown() {
    return Math.max(1, replicas / (1.0 + telling));
  }

  @Override
  public double ghostHits() {
    return prefixes.ghostHits();
  }

  @Override
  public double goesOn() {
    return goesOn;
  }

  @Override
  public int places() {
    return endpoints.length;
  }

  @Override
  public long changes(long since, Changed to) {
    return columns.changes(since, place -> to.changed(place, endpoints[place]));
  }

  @Override
  public int cachedTokens(int index) {
    lookUp();
    return heldTokens(slot(index));
  }

  @Override
  public @Nullable Advice advice() {
    return advice;
  }

  @Override
  public long identity(int index) {
    return endpoint(index).identity();
  }

  @Override
  public int partition(int index) {
    return endpoint(index).partition();
  }
}
