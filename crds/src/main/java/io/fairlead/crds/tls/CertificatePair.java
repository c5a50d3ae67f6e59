package io.fairlead.crds.tls;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * A certificate with its chain, and its key: what a server shows, and shows to be its own.
 *
 * @param chain the server's own certificate first; never empty
 * @param key of the first certificate
 */
public record CertificatePair(List<X509Certificate> chain, PrivateKey key) {
  private static final Pattern BEGIN = Pattern.compile("-----BEGIN ([A-Z0-9 ]{1,40})-----");

  private static final Pattern BLOCK =
      Pattern.compile(BEGIN.pattern() + "([^-]*)-----END \\1-----");

  public CertificatePair {
    chain = List.copyOf(chain);
  }

  /**
   * Reads what {@code tls.crt} and {@code tls.key} hold. What else is in the first, a key say, is
   * passed over where there is a certificate, too.
   *
   * @param certificate certificates in PEM, one after the other
   * @param key a private key in PEM, without a password
   * @throws GeneralSecurityException if they are no such pair; the message says why, and repeats
   *     nothing of them
   */
  public static CertificatePair read(byte[] certificate, byte[] key)
      throws GeneralSecurityException {
    String certificatePem = new String(certificate, StandardCharsets.ISO_8859_1);
    String keyPem = new String(key, StandardCharsets.ISO_8859_1);
    List<String> labels = labels(certificatePem);
    boolean keyIsCertificate = isCertificateAlone(labels(keyPem));
    if (labels.stream().noneMatch(CertificatePair::isCertificate)) {
      throw new GeneralSecurityException(noCertificate(certificatePem, labels, keyIsCertificate));
    }
    List<X509Certificate> chain = certificates(certificatePem);
    if (keyIsCertificate) {
      throw new GeneralSecurityException("there is a certificate in place of the private key");
    }
    PrivateKey parsed = PrivateKeyPem.read(keyPem);
    requirePair(chain, parsed);
    return new CertificatePair(chain, parsed);
  }

  private static String noCertificate(String pem, List<String> labels, boolean isInPlaceOfTheKey) {
    if (labels.isEmpty()) {
      return pem.isBlank() ? "it has no certificate" : "it has no PEM block of a certificate";
    }
    if (labels.stream().noneMatch(CertificatePair::isPrivateKey)) {
      return "there is a %s in place of the certificate".formatted(labels.getFirst());
    }
    return isInPlaceOfTheKey
        ? "certificate and private key are in each other's place"
        : "there is a private key in place of the certificate";
  }

  private static List<String> labels(String pem) {
    return BEGIN.matcher(pem).results().map(begin -> begin.group(1)).toList();
  }

  private static boolean isCertificate(String label) {
    return label.equals("CERTIFICATE") || label.equals("X509 CERTIFICATE");
  }

  private static boolean isPrivateKey(String label) {
    return label.endsWith("PRIVATE KEY");
  }

  private static boolean isCertificateAlone(List<String> labels) {
    return labels.stream().anyMatch(CertificatePair::isCertificate)
        && labels.stream().noneMatch(CertificatePair::isPrivateKey);
  }

  private static List<X509Certificate> certificates(String pem) throws GeneralSecurityException {
    CertificateFactory factory = CertificateFactory.getInstance("X.509");
    List<X509Certificate> chain = new ArrayList<>();
    for (MatchResult block : BLOCK.matcher(pem).results().toList()) {
      if (isCertificate(block.group(1))) {
        try {
          byte[] der = Base64.getMimeDecoder().decode(block.group(2));
          chain.add((X509Certificate) factory.generateCertificate(new ByteArrayInputStream(der)));
        } catch (CertificateException | IllegalArgumentException e) {
          throw new CertificateException(
              "certificate %d is damaged".formatted(chain.size() + 1), e);
        }
      }
    }
    if (chain.isEmpty()) {
      throw new CertificateException("certificate 1 has no end");
    }
    return chain;
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

  private static void requirePair(List<X509Certificate> chain, PrivateKey key)
      throws GeneralSecurityException {
    for (int i = 0; i < chain.size(); i++) {
      if (isOf(chain.get(i), key)) {
        if (i == 0) {
          return;
        }
        throw new GeneralSecurityException(
            "the key is of certificate %d, and has to be of the first; put that one first"
                .formatted(i + 1));
      }
    }
    throw new GeneralSecurityException("the key is of another certificate");
  }

  private static boolean isOf(X509Certificate certificate, PrivateKey key)
      throws GeneralSecurityException {
    String algorithm =
        switch (key.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> key.getAlgorithm();
        };
    byte[] anything = {1, 2, 3};
    if (!certificate.getPublicKey().getAlgorithm().equals(key.getAlgorithm())) {
      return false;
    }
    Signature signature = Signature.getInstance(algorithm);
    signature.initSign(key);
    signature.update(anything);
    byte[] signed = signature.sign();
    try {
      signature.initVerify(certificate.getPublicKey());
      signature.update(anything);
      return signature.verify(signed);
    } catch (SignatureException | InvalidKeyException e) {
      // One of another length or curve is none at all.
      return false;
    }
  }
}
