package io.fairlead.epp.tls;

import io.fairlead.crds.tls.Der;
import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;

/**
 * A key and the certificate that it signed itself: ECDSA on P-256, ten years.
 *
 * <p>Written as DER by hand, since the JDK reads certificates but makes none, and the libraries
 * that do weigh more than the rest of this program.
 */
record SelfSignedCertificate(PrivateKey key, X509Certificate certificate) {

  private static final Duration VALID = Duration.ofDays(3650);

  /** Clocks of proxies may be behind. */
  private static final Duration BACKDATED = Duration.ofDays(1);

  private static final int SEQUENCE = 0x30;
  private static final int SET = 0x31;

  private static final DateTimeFormatter GENERALIZED_TIME =
      DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

  /** SEQUENCE { OID ecdsa-with-SHA256 }. */
  private static final byte[] ECDSA_SHA256 = HexFormat.of().parseHex("300a06082a8648ce3d040302");

  /** OID commonName. */
  private static final byte[] COMMON_NAME = HexFormat.of().parseHex("0603550403");

  /** OID subjectAltName. */
  private static final byte[] ALTERNATIVE_NAME = HexFormat.of().parseHex("0603551d11");

  static SelfSignedCertificate create(String name, InstantSource clock, SecureRandom random)
      throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec("secp256r1"), random);
    KeyPair pair = generator.generateKeyPair();
    byte[] body = body(name, clock.instant(), pair.getPublic().getEncoded(), random);
    Signature signature = Signature.getInstance("SHA256withECDSA");
    signature.initSign(pair.getPrivate(), random);
    signature.update(body);
    byte[] der = Der.of(SEQUENCE, body, ECDSA_SHA256, bits(signature.sign()));
    X509Certificate certificate =
        (X509Certificate)
            CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(der));
    return new SelfSignedCertificate(pair.getPrivate(), certificate);
  }

  private static byte[] body(String name, Instant now, byte[] publicKey, SecureRandom random) {
    byte[] text = name.getBytes(StandardCharsets.US_ASCII);
    byte[] distinguished =
        Der.of(SEQUENCE, Der.of(SET, Der.of(SEQUENCE, COMMON_NAME, Der.of(0x0c, text))));
    byte[] names =
        Der.of(SEQUENCE, ALTERNATIVE_NAME, Der.of(0x04, Der.of(SEQUENCE, Der.of(0x82, text))));
    return Der.of(
        SEQUENCE,
        Der.of(0xa0, Der.of(0x02, new byte[] {2})), // version 3
        Der.of(0x02, new BigInteger(127, random).setBit(126).toByteArray()),
        ECDSA_SHA256,
        distinguished,
        Der.of(SEQUENCE, time(now.minus(BACKDATED)), time(now.plus(VALID))),
        distinguished,
        publicKey,
        Der.of(0xa3, Der.of(SEQUENCE, names)));
  }

  private static byte[] time(Instant instant) {
    return Der.of(0x18, GENERALIZED_TIME.format(instant).getBytes(StandardCharsets.US_ASCII));
  }

  private static byte[] bits(byte[] bytes) {
    return Der.of(0x03, new byte[] {0}, bytes);
  }
}
