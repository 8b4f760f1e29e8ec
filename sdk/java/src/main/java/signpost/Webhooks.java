package signpost;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.function.Function;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Proves that messages come from the service. */
public final class Webhooks {
  /** How far the clocks of the service and the receiver may differ. */
  private static final Duration TOLERANCE = Duration.ofMinutes(5);

  private Webhooks() {}

  /** A message that does not come from the service, or not now: answer it with status 400 and do nothing else. */
  public static final class VerificationException extends Exception {
    private static final long serialVersionUID = 1;

    VerificationException(String message) {
      super(message);
    }
  }

  /**
   * Returns when the service signed the message with the secret within the last five minutes. A message may come more than
   * once: its {@code webhook-id} stays the same.
   *
   * @param payload the body exactly as it was received
   * @param headers finds a header by its name, such as {@code request::getHeader}
   * @param secret {@code whsec_…}
   */
  public static void verifyWebhook(byte[] payload, Function<String, String> headers, String secret)
      throws VerificationException {
    verifyWebhook(payload, headers, secret, Instant.now());
  }

  static void verifyWebhook(byte[] payload, Function<String, String> headers, String secret, Instant now)
      throws VerificationException {
    String id = headers.apply("webhook-id");
    String timestamp = headers.apply("webhook-timestamp");
    String signatures = headers.apply("webhook-signature");
    if (id == null || timestamp == null || signatures == null) {
      throw new VerificationException("a header of the signature is missing");
    }
    if (!timestamp.matches("[0-9]{1,12}")
        || Duration.between(Instant.ofEpochSecond(Long.parseLong(timestamp)), now).abs().compareTo(TOLERANCE) > 0) {
      throw new VerificationException("the message is not from the last five minutes");
    }
    byte[] wanted = sign(keyOf(secret), id + "." + timestamp + ".", payload);
    // While a secret is replaced there is a signature for each of both.
    for (String each : signatures.split(" ", 16)) {
      if (each.startsWith("v1,") && MessageDigest.isEqual(bytesOf(each.substring(3)), wanted)) {
        return;
      }
    }
    throw new VerificationException("no signature is of this secret");
  }

  private static byte[] sign(byte[] key, String head, byte[] payload) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      mac.update(head.getBytes(StandardCharsets.UTF_8));
      return mac.doFinal(payload);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has HMAC-SHA256", e);
    }
  }

  private static byte[] keyOf(String secret) {
    byte[] key = bytesOf(secret.startsWith("whsec_") ? secret.substring("whsec_".length()) : secret);
    if (key.length == 0) {
      throw new IllegalArgumentException("the secret must be whsec_ and base64");
    }
    return key;
  }

  private static byte[] bytesOf(String base64) {
    try {
      return Base64.getDecoder().decode(base64);
    } catch (IllegalArgumentException e) {
      return new byte[0];
    }
  }
}
