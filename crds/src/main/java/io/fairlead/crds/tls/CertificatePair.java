package io.fairlead.crds.tls;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * A certificate with its chain, and its key: what a server shows, and shows to be its own.
 *
 * @param chain the server's own certificate first; never empty
 * @param key of the first certificate
 */
public record CertificatePair(List<X509Certificate> chain, PrivateKey key) {

  public CertificatePair {
    chain = List.copyOf(chain);
  }

  /**
   * Reads what {@code tls.crt} and {@code tls.key} hold.
   *
   * @param certificate certificates in PEM, one after the other
   * @param key a private key in PEM, without a password
   * @throws GeneralSecurityException if they are no such pair; the message says why
   */
  public static CertificatePair read(byte[] certificate, byte[] key)
      throws GeneralSecurityException {
    Certificate[] read =
        CertificateFactory.getInstance("X.509")
            .generateCertificates(new ByteArrayInputStream(certificate))
            .toArray(Certificate[]::new);
    if (read.length == 0) {
      throw new GeneralSecurityException("it has no certificate");
    }
    X509Certificate[] chain = Arrays.copyOf(read, read.length, X509Certificate[].class);
    PrivateKey parsed = PrivateKeyPem.read(new String(key, StandardCharsets.ISO_8859_1));
    requirePair(chain[0], parsed);
    return new CertificatePair(List.of(chain), parsed);
  }

  /** From when on all certificates of the chain are valid. */
  public Instant begin() {
    return chain.stream()
        .map(certificate -> certificate.getNotBefore().toInstant())
        .max(Comparator.naturalOrder())
        .orElseThrow();
  }

  /** When the first certificate of the chain ends. */
  public Instant end() {
    return chain.stream()
        .map(certificate -> certificate.getNotAfter().toInstant())
        .min(Comparator.naturalOrder())
        .orElseThrow();
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
}
