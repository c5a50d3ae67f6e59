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
import java.time.InstantSource;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The secret of those who may look from other hosts, and the sessions of browsers that have shown
 * it. A session is the time of its end, signed with the token: nothing is kept of it here, every
 * picker with the same token knows it, and it ends when the token changes.
 *
 * <p>Used by one thread.
 */
final class AccessToken {

  private static final Logger LOG = LoggerFactory.getLogger(AccessToken.class);

  static final long SESSION_SECONDS = TimeUnit.HOURS.toSeconds(12);

  private static final long READ_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final String SIGNATURE = "HmacSHA256";

  private final Path file;
  private final LongSupplier clock;
  private final InstantSource time;
  private byte @Nullable [] token;
  private String problem = "";
  private boolean looked;
  private long lookedAt;

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
    return end + "." + signature(known, end);
  }

  boolean isOpen(String session) {
    byte[] known = look();
    int dot = session.indexOf('.');
    if (known == null || dot < 1 || !session.substring(0, dot).matches("[0-9]{1,12}")) {
      return false;
    }
    long end = Long.parseLong(session.substring(0, dot));
    return end > time.instant().getEpochSecond()
        && MessageDigest.isEqual(
            signature(known, end).getBytes(StandardCharsets.UTF_8),
            session.substring(dot + 1).getBytes(StandardCharsets.UTF_8));
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

  private static String signature(byte[] token, long end) {
    try {
      Mac mac = Mac.getInstance(SIGNATURE);
      mac.init(new SecretKeySpec(token, SIGNATURE));
      byte[] signed =
          mac.doFinal(("console session until " + end).getBytes(StandardCharsets.UTF_8));
      return Base64.getUrlEncoder().withoutPadding().encodeToString(signed);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has " + SIGNATURE, e);
    }
  }
}
