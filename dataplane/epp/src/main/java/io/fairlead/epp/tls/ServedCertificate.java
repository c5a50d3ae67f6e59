package io.fairlead.epp.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
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
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Pair(
      String alias, X509Certificate[] chain, PrivateKey key, @Nullable Pair before) {

    Pair after(Pair former) {
      Pair last = new Pair(former.alias, former.chain, former.key, null);
      return new Pair(alias, chain, key, last);
    }
  }

  private int read;

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
    pair = changed();
  }

  /** When the first certificate of the chain ends that new connections get. Any thread. */
  Instant end() {
    return Arrays.stream(pair.chain())
        .map(certificate -> certificate.getNotAfter().toInstant())
        .min(Comparator.naturalOrder())
        .orElseThrow();
  }

  /** Looks whether the files have changed. Reads them: not for an event loop. */
  synchronized void look() {
    byte[] certificateBefore = certificateBytes;
    byte[] keyBefore = keyBytes;
    try {
      Pair next = changed();
      if (!Arrays.equals(certificateBefore, certificateBytes)
          || !Arrays.equals(keyBefore, keyBytes)) {
        pair = next.after(pair);
        LOG.info("cert-path: {} has changed and is in use", certificateFile);
      }
      problem = "";
    } catch (RuntimeException e) {
      // Whatever is wrong with the files, the next look may find them right. Told once: they are
      // often written one after the other.
      String why = String.valueOf(e.getMessage());
      if (!why.equals(problem)) {
        problem = why;
        LOG.warn("{}; the last good pair stays in use", why);
      }
    }
  }

  private Pair changed() {
    byte[] certificate = bytes(certificateFile);
    byte[] key = bytes(keyFile);
    certificateBytes = certificate;
    keyBytes = key;
    try {
      Certificate[] chain =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(certificate))
              .toArray(Certificate[]::new);
      if (chain.length == 0) {
        throw new GeneralSecurityException("it has no certificate");
      }
      X509Certificate[] certificates = Arrays.copyOf(chain, chain.length, X509Certificate[].class);
      PrivateKey parsed = PrivateKeyPem.read(new String(key, StandardCharsets.ISO_8859_1));
      requirePair(certificates[0], parsed);
      return new Pair("pair-" + read++, certificates, parsed, null);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(
          "cert-path: %s and %s are not a PEM certificate and its key: %s"
              .formatted(certificateFile, keyFile, e.getMessage()),
          e);
    }
  }

  private static void requirePair(X509Certificate certificate, PrivateKey key)
      throws GeneralSecurityException {
    String algorithm =
        switch (key.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> key.getAlgorithm();
        };
    byte[] anything = {1, 2, 3};
    if (!certificate.getPublicKey().getAlgorithm().equals(key.getAlgorithm())) {
      throw new GeneralSecurityException("the key is of another certificate");
    }
    Signature signature = Signature.getInstance(algorithm);
    signature.initSign(key);
    signature.update(anything);
    byte[] signed = signature.sign();
    signature.initVerify(certificate.getPublicKey());
    signature.update(anything);
    if (!signature.verify(signed)) {
      throw new GeneralSecurityException("the key is of another certificate");
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
    return named(alias).chain().clone();
  }

  @Override
  public PrivateKey getPrivateKey(String alias) {
    return named(alias).key();
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
    return keyType.equals(now.key().getAlgorithm()) ? now.alias() : null;
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
