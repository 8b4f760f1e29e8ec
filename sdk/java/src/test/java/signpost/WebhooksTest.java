package signpost;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WebhooksTest {
  /** Every line of the file is a message that the service signed, or one that somebody forged. */
  @Test
  void tellsGenuineMessagesFromOthers() throws IOException {
    List<String> lines = Files.readAllLines(Path.of("../webhook-vectors.tsv"));
    for (String line : lines.subList(1, lines.size())) {
      String[] part = line.split("\t");
      Map<String, String> headers =
          Map.of("webhook-id", part[2], "webhook-timestamp", part[3], "webhook-signature", part[4]);
      byte[] payload = Base64.getDecoder().decode(part[5]);
      Instant now = Instant.ofEpochSecond(Long.parseLong(part[6]));
      assertEquals(part[7].equals("genuine"), isGenuine(payload, headers, part[1], now), part[0]);
    }
  }

  private static boolean isGenuine(byte[] payload, Map<String, String> headers, String secret, Instant now) {
    try {
      Webhooks.verifyWebhook(payload, headers::get, secret, now);
      return true;
    } catch (Webhooks.VerificationException e) {
      return false;
    }
  }
}
