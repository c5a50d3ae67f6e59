package io.fairlead.epp.openai;

import io.fairlead.core.PromptSize;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * Reads a form as OpenAI's calls for sounds have it: the model and where it stands, whether the
 * answer is to be streamed, and how long the file is. Copies nothing but the model's name.
 */
final class FormReader {

  private static final int MAX_MODEL_BYTES = 512;
  private static final int MAX_HEADER_BYTES = 16 << 10;
  private static final String TYPE_HEADER = "content-type:";
  private static final String DISPOSITION_HEADER = "content-disposition:";

  private final BodyBytes body;
  private final int end;
  private final byte[] delimiter;

  /** How far the delimiter can't begin before, by the byte that stands where it would end. */
  private final int[] skip = new int[256];

  private int pos;

  private String model = "";
  private int modelFrom;
  private int modelTo;
  private boolean streamed;
  private long text;
  private int sound;

  private FormReader(BodyBytes body, String boundary) {
    this.body = body;
    end = body.length();
    delimiter = ("\r\n--" + boundary).getBytes(StandardCharsets.ISO_8859_1);
    int last = delimiter.length - 1;
    Arrays.fill(skip, delimiter.length);
    for (int i = 0; i < last; i++) {
      skip[delimiter[i] & 0xff] = last - i;
    }
  }

  static ParsedRequest read(RequestContent content, BodyBytes body) throws BadRequestException {
    FormReader form = new FormReader(body, content.boundary());
    form.parts();
    boolean named = form.modelTo > 0;
    return new ParsedRequest(
        form.model,
        named ? form.modelFrom : 0,
        named ? form.modelTo : 0,
        false,
        -1,
        1,
        form.streamed,
        false,
        Operation.of(content.path()).isForm()
            ? new PromptSize(form.text, form.sound)
            : PromptSize.NONE,
        new long[0]);
  }

  private void parts() throws BadRequestException {
    // The first delimiter has no line before it where there is no preamble.
    boolean atOnce = isAt(0, 2);
    pos = atOnce ? delimiter.length - 2 : delimiter(0) + delimiter.length;
    while (!isEnd()) {
      expectLineEnd();
      part();
    }
  }

  /** Whether the delimiter, from its byte {@code from} on, stands there. */
  private boolean isAt(int at, int from) {
    int length = delimiter.length - from;
    if (end - at < length) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (body.at(at + i) != delimiter[from + i]) {
        return false;
      }
    }
    return true;
  }

  /** Where the next delimiter stands. A file is passed in steps of the delimiter's length. */
  private int delimiter(int from) throws BadRequestException {
    int last = delimiter.length - 1;
    int at = from;
    while (at <= end - delimiter.length) {
      byte b = body.at(at + last);
      if (b == delimiter[last] && isAt(at, 0)) {
        return at;
      }
      at += skip[b & 0xff];
    }
    throw broken("the boundary that the header 'content-type' names does not come");
  }

  private boolean isEnd() {
    return end - pos >= 2 && body.at(pos) == '-' && body.at(pos + 1) == '-';
  }

  private void expectLineEnd() throws BadRequestException {
    while (pos < end && (body.at(pos) == ' ' || body.at(pos) == '\t')) {
      pos++;
    }
    if (end - pos < 2 || body.at(pos) != '\r' || body.at(pos + 1) != '\n') {
      throw broken("a line end expected after a boundary");
    }
    pos += 2;
  }

  private void part() throws BadRequestException {
    String name = "";
    String type = "";
    boolean file = false;
    for (String line = line(); !line.isEmpty(); line = line()) {
      String lower = line.toLowerCase(Locale.ROOT);
      if (lower.startsWith(DISPOSITION_HEADER)) {
        name = parameter(line, "name");
        file = !parameter(line, "filename").isEmpty();
      } else if (lower.startsWith(TYPE_HEADER)) {
        type = lower.substring(TYPE_HEADER.length()).strip();
      }
    }
    int from = pos;
    int to = delimiter(from);
    pos = to + delimiter.length;
    value(name, file, type, from, to);
  }

  private String line() throws BadRequestException {
    int from = pos;
    int limit = Math.min(end, from + MAX_HEADER_BYTES);
    for (int at = from; at + 1 < limit; at++) {
      if (body.at(at) == '\r' && body.at(at + 1) == '\n') {
        pos = at + 2;
        return body.text(from, at, StandardCharsets.UTF_8);
      }
    }
    throw broken("a part's header has no end");
  }

  /** The value of a header's parameter; empty where there is none. */
  private static String parameter(String line, String name) {
    String wanted = name + "=";
    for (int at = 1; at + wanted.length() <= line.length(); at++) {
      char before = line.charAt(at - 1);
      boolean begins = before == ';' || before == ' ' || before == '\t';
      if (begins && line.regionMatches(true, at, wanted, 0, wanted.length())) {
        String value = line.substring(at + wanted.length());
        boolean quoted = value.startsWith("\"");
        int close = quoted ? value.indexOf('"', 1) : value.indexOf(';');
        return close < 0 ? value.strip() : value.substring(quoted ? 1 : 0, close).strip();
      }
    }
    return "";
  }

  private void value(String name, boolean file, String type, int from, int to)
      throws BadRequestException {
    int length = to - from;
    switch (name) {
      case "model" -> model(from, to);
      case "stream" -> {
        String value = body.text(from, from + Math.min(length, 8), StandardCharsets.UTF_8);
        streamed = value.equalsIgnoreCase("true") || value.equals("1");
      }
      case "prompt" -> text = length;
      case "file" -> {
        if (file) {
          BodyBytes kind = BodyBytes.of(type.getBytes(StandardCharsets.UTF_8));
          MediaKind media = MediaKind.ofMediaType(kind, 0, kind.length());
          sound = (media == null ? MediaKind.COMPRESSED_SOUND : media).tokens(length);
        }
      }
      default -> {}
    }
  }

  private void model(int from, int to) throws BadRequestException {
    if (modelTo > 0) {
      throw new BadRequestException(
          400, ErrorCodes.DUPLICATE_FIELD, "The field 'model' is there twice; send it once.");
    }
    if (to == from) {
      throw invalidModel("is empty; name the model to ask");
    }
    if (to - from > MAX_MODEL_BYTES) {
      throw invalidModel("is longer than " + MAX_MODEL_BYTES + " bytes");
    }
    // Latin-1 keeps every byte.
    byte[] name =
        body.text(from, to, StandardCharsets.ISO_8859_1).getBytes(StandardCharsets.ISO_8859_1);
    try {
      model = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(name)).toString();
    } catch (CharacterCodingException e) {
      throw invalidModel("is not UTF-8");
    }
    modelFrom = from;
    modelTo = to;
  }

  private static BadRequestException invalidModel(String problem) {
    return new BadRequestException(
        400, ErrorCodes.INVALID_MODEL, "The field 'model' " + problem + ".");
  }

  private BadRequestException broken(String what) {
    return new BadRequestException(
        400,
        ErrorCodes.INVALID_FORM,
        "The body is not a valid form: after byte " + pos + " " + what + ".");
  }
}
