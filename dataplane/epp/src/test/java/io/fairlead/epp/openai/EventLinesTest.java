package io.fairlead.epp.openai;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EventLinesTest {

  /** {@code d} is data, {@code e} the end of a line of it, {@code E} that of an event. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "data:a;;     | .....deE",
        "data: a;b;;  | .....dde..E",
        "data:;;      | .....eE",
        ";;           | EE",
        ":data:a;;    | ........E",
        "datadata:a;  | ...........",
        "dat;data:x;  | .........de",
        "data:a/data:b//| .....de.....deE",
        "data:a/;data:b/;/;| .....de......de.E.",
        "data:a;/     | .....deE",
      })
  void tellsDataAndEndsApart(String stream, String parts) {
    EventLines lines = new EventLines();
    StringBuilder told = new StringBuilder();
    String text = stream.replace(';', '\n').replace('/', '\r');
    for (byte b : text.getBytes(StandardCharsets.US_ASCII)) {
      boolean inData = lines.inData();
      EventLines.Part part = lines.next(b);
      told.append(
          switch (part) {
            case DATA -> 'd';
            case DATA_END -> 'e';
            case EVENT_END -> 'E';
            case OTHER -> '.';
          });
      assertThat(inData)
          .isEqualTo(part == EventLines.Part.DATA || part == EventLines.Part.DATA_END);
    }
    assertThat(told.toString()).isEqualTo(parts);
  }
}
