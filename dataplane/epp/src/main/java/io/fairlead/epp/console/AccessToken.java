package io.fairlead.epp.console;

import io.fairlead.crds.access.ConsoleToken;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The secret of those who may look from other hosts, and the sessions of browsers that have shown
 * it. A session is the time of its end and a number, signed with the token: nothing is kept of it
 * here, every picker with the same token knows it, and it ends when the token changes. Who logs out
 * ends it before its time, which this picker remembers until then, and no other is told.
 *
 * <p>Used by one thread.
 */
final class AccessToken {

  private static final Logger LOG = LoggerFactory.getLogger(AccessToken.class);

  static final long SESSION_SECONDS = TimeUnit.HOURS.toSeconds(12);

  private static final long READ_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final String SIGNATURE = "HmacSHA256";

  /** Sessions that were ended before their time at most; with more, older ones end with them. */
  static final int MOST_ENDED = 1_024;

  /** Its end, its number, its signature. */
  private static final Pattern SESSION =
      Pattern.compile("([0-9]{1,12})\\.([A-Za-z0-9_-]{22})\\.([A-Za-z0-9_-]{43})");

  private static final int NUMBER_BYTES = 16;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Path file;
  private final LongSupplier clock;
  private final InstantSource time;
  private byte @Nullable [] token;
  private String problem = "";
  private boolean looked;
  private long lookedAt;

  /** Sessions that were ended before their time, by number: when that would have come. */
  private final Map<String, Long> ended = new HashMap<>();

  /** All sessions are over whose time comes by then: some of them were ended, and forgotten. */
  private long endedUntil;

  /**
   * What the file holds, less white space around it.
   *
   * @param clock monotonic, in nanoseconds
   */
  AccessToken(Path file, LongSupplier clock, InstantSource time) {
    this.file = file;
    this.clock = clock;
    this.time = time;
  }

  /** Why there is none, to be shown to anybody; empty while there is one. */
  String problem() {
    look();
    return problem;
  }

  boolean matches(String shown) {
    byte[] known = look();
    return known != null
        && MessageDigest.isEqual(digest(known), digest(shown.getBytes(StandardCharsets.UTF_8)));
  }

  /** A session that begins now; to be called where {@link #matches} has just been true. */
  String newSession() {
    byte[] known = look();
    if (known == null) {
      throw new IllegalStateException("there is no token");
    }
    long end = time.instant().getEpochSecond() + SESSION_SECONDS;
    byte[] number = new byte[NUMBER_BYTES];
    RANDOM.nextBytes(number);
    String signed = end + "." + text(number);
    return signed + "." + signature(known, signed);
  }

  boolean isOpen(String session) {
    byte[] known = look();
    Matcher parts = SESSION.matcher(session);
    if (known == null || !parts.matches()) {
      return false;
    }
    long end = Long.parseLong(parts.group(1));
    return end > Math.max(time.instant().getEpochSecond(), endedUntil)
        && !ended.containsKey(parts.group(2))
        && MessageDigest.isEqual(
            signature(known, session.substring(0, parts.end(2))).getBytes(StandardCharsets.UTF_8),
            parts.group(3).getBytes(StandardCharsets.UTF_8));
  }

  /** Ends a session before its time; of one that isn't open nothing is kept. */
  void end(String session) {
    Matcher parts = SESSION.matcher(session);
    if (!isOpen(session) || !parts.matches()) {
      return;
    }
    long now = time.instant().getEpochSecond();
    ended.values().removeIf(end -> end <= now);
    if (ended.size() == MOST_ENDED) {
      endedUntil = Collections.min(ended.values());
      ended.values().removeIf(end -> end <= endedUntil);
    }
    ended.put(parts.group(2), Long.parseLong(parts.group(1)));
  }

  /** Sessions that were ended and are remembered. */
  int ended() {
    return ended.size();
  }

  private byte @Nullable [] look() {
    long now = clock.getAsLong();
    if (!looked || now - lookedAt >= READ_AGAIN_NANOS) {
      looked = true;
      lookedAt = now;
      String before = problem;
      token = read();
      if (!problem.isEmpty() && !problem.equals(before)) {
        LOG.warn("the console is shown to this host alone: {}: {}", file, problem);
      }
    }
    return token;
  }

  private byte @Nullable [] read() {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] read = ConsoleToken.of(in.readNBytes(ConsoleToken.LONGEST + 1));
      problem =
          read == null
              ? "its token must have from %d to %d bytes"
                  .formatted(ConsoleToken.SHORTEST, ConsoleToken.LONGEST)
              : "";
      return read;
    } catch (NoSuchFileException e) {
      problem = "the file with its token is not there";
    } catch (IOException e) {
      problem = "the file with its token can't be read";
    }
    return null;
  }

  private static byte[] digest(byte[] text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private static String text(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private static String signature(byte[] token, String session) {
    try {
      Mac mac = Mac.getInstance(SIGNATURE);
      mac.init(new SecretKeySpec(token, SIGNATURE));
      return text(
          mac.doFinal(("console session until " + session).getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has " + SIGNATURE, e);
    }
  }
}
