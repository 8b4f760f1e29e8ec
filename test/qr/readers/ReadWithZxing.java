import com.google.zxing.BarcodeFormat;
import com.google.zxing.BinaryBitmap;
import com.google.zxing.DecodeHintType;
import com.google.zxing.PlanarYUVLuminanceSource;
import com.google.zxing.ReaderException;
import com.google.zxing.common.HybridBinarizer;
import com.google.zxing.qrcode.QRCodeReader;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Reads grey pictures with ZXing; takes and answers them as read.py does. */
final class ReadWithZxing {
  private static final Map<DecodeHintType, Object> HINTS =
      Map.of(
          DecodeHintType.TRY_HARDER, true,
          DecodeHintType.POSSIBLE_FORMATS, List.of(BarcodeFormat.QR_CODE));

  public static void main(String[] arguments) throws IOException {
    DataInputStream input = new DataInputStream(System.in);
    for (String header = line(input); !header.isEmpty(); header = line(input)) {
      String[] sides = header.split(" ");
      int width = Integer.parseInt(sides[0]);
      int height = Integer.parseInt(sides[1]);
      byte[] pixels = new byte[width * height];
      input.readFully(pixels);
      String text = read(pixels, width, height);
      System.out.println("{\"zxing-java\":" + (text == null ? "null" : quoted(text)) + "}");
    }
  }

  private static String read(byte[] pixels, int width, int height) {
    var source = new PlanarYUVLuminanceSource(pixels, width, height, 0, 0, width, height, false);
    try {
      return new QRCodeReader().decode(new BinaryBitmap(new HybridBinarizer(source)), HINTS).getText();
    } catch (ReaderException notFound) {
      return null;
    }
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char character : text.toCharArray()) {
      if (character < ' ' || character > '~' || character == '"' || character == '\\')
        quoted.append(String.format("\\u%04x", (int) character));
      else quoted.append(character);
    }
    return quoted.append('"').toString();
  }

  private static String line(DataInputStream input) throws IOException {
    StringBuilder line = new StringBuilder();
    try {
      for (char next = (char) input.readByte(); next != '\n'; next = (char) input.readByte()) line.append(next);
    } catch (EOFException end) {
      return "";
    }
    return line.toString();
  }
}
