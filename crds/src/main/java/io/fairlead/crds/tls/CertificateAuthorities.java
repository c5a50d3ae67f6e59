package io.fairlead.crds.tls;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The certificates by which those of servers are held to be right. */
public final class CertificateAuthorities {
  /** Key that holds them in a ConfigMap or Secret. */
  public static final String KEY = "ca.crt";

  /** What pickers take for one, which is what Netty does. */
  private static final Pattern CERTIFICATE =
      Pattern.compile(
          "-+BEGIN\\s[^-\\r\\n]*CERTIFICATE[^-\\r\\n]*-+\\s+([A-Za-z0-9+/=\\r\\n]+)-+END\\s[^-\\r\\n]*CERTIFICATE[^-\\r\\n]*-+");

  private CertificateAuthorities() {}

  /**
   * Reads certificates in PEM, with anything between them.
   *
   * @return at least one
   * @throws GeneralSecurityException if there is none, or one can't be read; the message says why
   */
  public static List<X509Certificate> read(byte[] text) throws GeneralSecurityException {
    CertificateFactory factory = CertificateFactory.getInstance("X.509");
    List<X509Certificate> all = new ArrayList<>();
    String pem = new String(text, StandardCharsets.ISO_8859_1);
    Matcher found = CERTIFICATE.matcher(pem);
    while (found.find()) {
      byte[] der;
      try {
        der = Base64.getMimeDecoder().decode(found.group(1));
      } catch (IllegalArgumentException e) {
        throw new GeneralSecurityException(
            "certificate %d is not in Base64".formatted(all.size() + 1), e);
      }
      try {
        all.add((X509Certificate) factory.generateCertificate(new ByteArrayInputStream(der)));
      } catch (CertificateException e) {
        throw new CertificateException("certificate %d is damaged".formatted(all.size() + 1), e);
      }
    }
    if (all.isEmpty()) {
      throw new GeneralSecurityException(
          pem.contains("PRIVATE KEY-----")
              ? "it has a private key and no certificate"
              : "it has no certificate");
    }
    return List.copyOf(all);
  }
}
