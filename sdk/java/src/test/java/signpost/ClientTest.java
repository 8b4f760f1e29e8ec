package signpost;

import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClientTest {
  @ParameterizedTest
  @ValueSource(strings = {"ftp://localhost", "localhost:8080", "localhost", "http://localhost/api", "http://local host"})
  void refusesAddressesThatGrpcCannotUse(String baseUrl) {
    assertThrows(IllegalArgumentException.class, () -> new Client(baseUrl, "token"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://localhost:8080/", "https://localhost", "http://[::1]:8080"})
  void takesAddressesWithAndWithoutAPort(String baseUrl) {
    new Client(baseUrl, "").close();
  }

  @Test
  void refusesATokenThatWouldEndTheHeader() {
    assertThrows(IllegalArgumentException.class, () -> new Client("http://localhost", "a\r\nb"));
  }
}
