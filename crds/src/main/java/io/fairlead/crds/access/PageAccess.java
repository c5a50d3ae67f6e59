package io.fairlead.crds.access;

import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says whether whoever shows a bearer token may {@code get} a page, as the API server says it of
 * its own pages: a TokenReview tells who it is, a SubjectAccessReview whether they may get that
 * path. Answers are kept for a while, tokens never. While the API server can't say, nobody may but
 * those who lately might.
 *
 * <p>Safe to use from any thread.
 */
public final class PageAccess {

  /** How long somebody who might get a page still may, whatever the API server would say. */
  static final Duration ALLOWED_FOR = Duration.ofMinutes(2);

  /** How much longer, where the API server can't be asked or says nothing. */
  static final Duration ALLOWED_WITHOUT_ANSWER = Duration.ofMinutes(8);

  /**
   * Shorter, so that a right that is granted is soon felt; long enough to bear a storm of tries.
   */
  static final Duration DENIED_FOR = Duration.ofSeconds(10);

  /** Of those who may, and as many again of those who may not. */
  static final int MOST_KEPT = 256;

  private static final int MOST_AT_ONCE = 8;
  private static final int LONGEST_TOKEN = 16 * 1024;
  private static final Pattern BEARER = Pattern.compile("(?i:bearer) +([!-~]+) *");
  private static final Logger LOG = LoggerFactory.getLogger(PageAccess.class);

  private final KubernetesClient client;
  private final LongSupplier clock;
  private final Semaphore asking = new Semaphore(MOST_AT_ONCE);

  /** For those who lately might: tokens that nobody knows must not take the turns of these. */
  private final Semaphore askingAgain = new Semaphore(MOST_AT_ONCE);

  /** By the hash of token and path. */
  private final Map<String, Kept> allowed = newest();

  /** Apart, as anybody can come with any number of tokens that nobody knows. */
  private final Map<String, Kept> denied = newest();

  private volatile boolean complained;

  /** What may be done. */
  public enum Answer {
    ALLOWED(200, ""),
    UNAUTHENTICATED(401, "needs a bearer token that the API server knows"),
    FORBIDDEN(403, "needs the right to get this path, a nonResourceURL, in a ClusterRole"),
    UNKNOWN(503, "can't be shown now: the API server doesn't say who may see it");

    private final int status;
    private final String message;

    Answer(int status, String message) {
      this.status = status;
      this.message = message;
    }

    /** The HTTP status that says it. */
    public int status() {
      return status;
    }

    /** What to tell the client after the path; empty for {@link #ALLOWED}. */
    public String message() {
      return message;
    }
  }

  private record Kept(Answer answer, long since) {

    /** How long it may be gone by where the API server can be asked. */
    Duration term() {
      return answer == Answer.ALLOWED ? ALLOWED_FOR : DENIED_FOR;
    }

    boolean holds(long now, Duration term) {
      return now - since < term.toNanos();
    }
  }

  /** Without the one that was asked for longest ago when there are too many; for any thread. */
  private static Map<String, Kept> newest() {
    return Collections.synchronizedMap(
        new LinkedHashMap<>(MOST_KEPT, 0.75f, true) {
          @Override
          protected boolean removeEldestEntry(Map.Entry<String, Kept> eldest) {
            return size() > MOST_KEPT;
          }
        });
  }

  /**
   * @param client may create {@code tokenreviews.authentication.k8s.io} and {@code
   *     subjectaccessreviews.authorization.k8s.io}; stays the caller's to close
   * @param clock monotonic nanoseconds: one that may be set back would keep rights that were taken
   */
  public PageAccess(KubernetesClient client, LongSupplier clock) {
    this.client = client;
    this.clock = clock;
  }

  /**
   * Asks. May block as long as a request to the API server takes.
   *
   * @param authorization the header of that name; null where there is none
   * @param path of the page, without a query
   */
  public Answer ask(@Nullable String authorization, String path) {
    Matcher bearer = BEARER.matcher(authorization == null ? "" : authorization);
    if (!bearer.matches() || bearer.group(1).length() > LONGEST_TOKEN) {
      return Answer.UNAUTHENTICATED;
    }
    String token = bearer.group(1);
    String key = hash(token + " " + path);
    Optional<Answer> known = known(key);
    if (known.isPresent()) {
      return known.get();
    }
    Semaphore turns = allowed.containsKey(key) ? askingAgain : asking;
    if (!turns.tryAcquire()) {
      return withoutAnswer(key);
    }
    try {
      Answer answer = review(token, path);
      keep(key, answer);
      complained = false;
      return answer;
    } catch (RuntimeException e) {
      if (!complained) {
        complained = true;
        LOG.warn(
            "the API server doesn't say who may get {}; this needs the right to create tokenreviews and subjectaccessreviews: {}",
            path,
            e.toString());
      }
      return withoutAnswer(key);
    } finally {
      turns.release();
    }
  }

  /** What holds where the API server says nothing. */
  private Answer withoutAnswer(String key) {
    Kept before = allowed.get(key);
    return before != null
            && before.holds(clock.getAsLong(), ALLOWED_FOR.plus(ALLOWED_WITHOUT_ANSWER))
        ? Answer.ALLOWED
        : Answer.UNKNOWN;
  }

  private Optional<Answer> known(String key) {
    long now = clock.getAsLong();
    return Stream.of(allowed, denied)
        .flatMap(kept -> Stream.ofNullable(kept.get(key)))
        .filter(one -> one.holds(now, one.term()))
        .map(Kept::answer)
        .findFirst();
  }

  private void keep(String key, Answer answer) {
    boolean may = answer == Answer.ALLOWED;
    if (!may) {
      allowed.remove(key);
    }
    (may ? allowed : denied).put(key, new Kept(answer, clock.getAsLong()));
  }

  private Answer review(String token, String path) {
    TokenReview who =
        client
            .tokenReviews()
            .create(new TokenReviewBuilder().withNewSpec().withToken(token).endSpec().build());
    if (who.getStatus() == null
        || !Boolean.TRUE.equals(who.getStatus().getAuthenticated())
        || who.getStatus().getUser() == null) {
      return Answer.UNAUTHENTICATED;
    }
    UserInfo user = who.getStatus().getUser();
    SubjectAccessReview may =
        client
            .authorization()
            .v1()
            .subjectAccessReview()
            .create(
                new SubjectAccessReviewBuilder()
                    .withNewSpec()
                    .withUser(user.getUsername())
                    .withUid(user.getUid())
                    .withGroups(user.getGroups())
                    .withExtra(user.getExtra())
                    .withNewNonResourceAttributes()
                    .withPath(path)
                    .withVerb("get")
                    .endNonResourceAttributes()
                    .endSpec()
                    .build());
    return may.getStatus() != null && Boolean.TRUE.equals(may.getStatus().getAllowed())
        ? Answer.ALLOWED
        : Answer.FORBIDDEN;
  }

  private static String hash(String text) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      return HexFormat.of().formatHex(sha.digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
