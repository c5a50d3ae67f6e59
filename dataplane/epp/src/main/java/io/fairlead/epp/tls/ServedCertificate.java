package io.fairlead.epp.tls;

import io.fairlead.crds.tls.CertificatePair;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The certificate and key of a folder, read again when they change: connections that are made from
 * then on get the new ones. A pair that can't be used is logged, and the last good one stays.
 */
final class ServedCertificate extends X509ExtendedKeyManager {

  private static final Logger LOG = LoggerFactory.getLogger(ServedCertificate.class);

  private final Path certificateFile;
  private final Path keyFile;
  private byte[] certificateBytes = {};
  private byte[] keyBytes = {};

  /**
   * What a handshake goes by, from its first question to its last.
   *
   * @param before the pair in use before this one, for handshakes that began with it
   */
  private record Pair(String alias, CertificatePair read, @Nullable Pair before) {

    Pair after(Pair former) {
      Pair last = new Pair(former.alias, former.read, null);
      return new Pair(alias, read, last);
    }
  }

  private int count;

  /** Why the files could not be used when they were looked at last; empty when they could. */
  private String problem = "";

  private volatile Pair pair;

  /**
   * Reads the folder.
   *
   * @throws IllegalStateException if the pair can't be used; the message names the files and why
   */
  ServedCertificate(Path folder) {
    certificateFile = folder.resolve("tls.crt");
    keyFile = folder.resolve("tls.key");
    pair = read(bytes(certificateFile), bytes(keyFile));
  }

  /** When the first certificate of the chain ends that new connections get. Any thread. */
  Instant end() {
    return pair.read().end();
  }

  /** Looks whether the files have changed. Reads them: not for an event loop. */
  synchronized void look() {
    try {
      byte[] certificate = bytes(certificateFile);
      byte[] key = bytes(keyFile);
      if (!Arrays.equals(certificate, certificateBytes) || !Arrays.equals(key, keyBytes)) {
        pair = read(certificate, key).after(pair);
        LOG.info("cert-path: {} has changed and is in use", certificateFile);
      }
      problem = "";
    } catch (RuntimeException | Error e) {
      // Whatever is wrong, the next look may find it right, and what is thrown would be the end of
      // all looks. Told once: the files are often written one after the other.
      String why = String.valueOf(e.getMessage());
      if (!why.equals(problem)) {
        problem = why;
        LOG.warn("{}; the last good pair stays in use", why);
      }
    }
  }

  private Pair read(byte[] certificate, byte[] key) {
    try {
      CertificatePair read = CertificatePair.read(certificate, key);
      certificateBytes = certificate;
      keyBytes = key;
      return new Pair("pair-" + count++, read, null);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(
          "cert-path: %s and %s are not a PEM certificate and its key: %s"
              .formatted(certificateFile, keyFile, e.getMessage()),
          e);
    }
  }

  private static byte[] bytes(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new IllegalStateException("cert-path: " + file + " can't be read", e);
    }
  }

  private Pair named(String alias) {
    Pair now = pair;
    Pair before = now.before();
    return before != null && before.alias().equals(alias) ? before : now;
  }

  @Override
  public X509Certificate[] getCertificateChain(String alias) {
    return named(alias).read().chain().toArray(X509Certificate[]::new);
  }

  @Override
  public PrivateKey getPrivateKey(String alias) {
    return named(alias).read().key();
  }

  @Override
  public @Nullable String chooseEngineServerAlias(
      String keyType, Principal @Nullable [] issuers, SSLEngine engine) {
    return chooseServerAlias(keyType, issuers, null);
  }

  @Override
  public @Nullable String chooseServerAlias(
      String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
    Pair now = pair;
    return keyType.equals(now.read().key().getAlgorithm()) ? now.alias() : null;
  }

  @Override
  public String[] getServerAliases(String keyType, Principal @Nullable [] issuers) {
    return new String[] {pair.alias()};
  }

  @Override
  public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
    return null;
  }

  @Override
  public @Nullable String chooseClientAlias(
      String[] keyTypes, Principal @Nullable [] issuers, @Nullable Socket socket) {
    return null;
  }
}
