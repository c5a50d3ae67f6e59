package io.fairlead.crds.tls;

import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads a private key as tools write it: PKCS#8, PKCS#1 (RSA) or SEC 1 (EC). The JDK takes PKCS#8
 * alone, so the others are wrapped in it.
 */
public final class PrivateKeyPem {

  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ([A-Z ]*PRIVATE KEY)-----([^-]*)-----END \\1-----");

  /** SEQUENCE { OID rsaEncryption, NULL }. */
  private static final byte[] RSA = HexFormat.of().parseHex("300d06092a864886f70d0101010500");

  /** OID ecPublicKey. */
  private static final byte[] EC = HexFormat.of().parseHex("06072a8648ce3d0201");

  /** Version 0. */
  private static final byte[] VERSION = {2, 1, 0};

  private static final int SEQUENCE = 0x30;
  private static final int OCTETS = 0x04;

  /** Where an EC key tells its curve. */
  private static final int PARAMETERS = 0xa0;

  private PrivateKeyPem() {}

  /**
   * The first private key of a text.
   *
   * @throws GeneralSecurityException if there is none that can be read; the message says why
   */
  public static PrivateKey read(String pem) throws GeneralSecurityException {
    Matcher block = BLOCK.matcher(pem);
    if (!block.find()) {
      throw new InvalidKeySpecException("it has no PEM block of a private key");
    }
    try {
      byte[] der = Base64.getMimeDecoder().decode(block.group(2));
      return switch (block.group(1)) {
        case "PRIVATE KEY" -> pkcs8(der);
        case "RSA PRIVATE KEY" -> pkcs8(wrapped(RSA, der));
        case "EC PRIVATE KEY" -> pkcs8(wrapped(Der.of(SEQUENCE, EC, curve(der)), der));
        default ->
            throw new InvalidKeySpecException(
                "'" + block.group(1) + "' is not read; give it as PKCS#8 without a password");
      };
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new InvalidKeySpecException("its private key is damaged", e);
    }
  }

  private static PrivateKey pkcs8(byte[] der) throws GeneralSecurityException {
    for (String algorithm : List.of("RSA", "EC", "EdDSA")) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
      } catch (InvalidKeySpecException e) {
        // of another algorithm
      }
    }
    throw new InvalidKeySpecException("its private key is damaged, or neither RSA, EC nor EdDSA");
  }

  private static byte[] wrapped(byte[] algorithm, byte[] key) {
    return Der.of(SEQUENCE, VERSION, algorithm, Der.of(OCTETS, key));
  }

  /** The OID of the curve in SEQUENCE { version, key, [0] { OID }, … }. */
  private static byte[] curve(byte[] sec1) throws InvalidKeySpecException {
    for (int at = Der.content(sec1, 0); at < sec1.length; at = Der.end(sec1, at)) {
      if ((sec1[at] & 0xff) == PARAMETERS) {
        return Arrays.copyOfRange(sec1, Der.content(sec1, at), Der.end(sec1, at));
      }
    }
    throw new InvalidKeySpecException("its EC key names no curve; give it as PKCS#8");
  }
}
