package io.fairlead.epp.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.PromptSize;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is no text in a prompt counts as what it costs, and in the hashes as what it is. */
class PromptMediaTest {

  private static final String CHAT = "/v1/chat/completions";
  private static final String RESPONSES = "/v1/responses";
  private static final String MESSAGES = "/v1/messages";
  private static final int BLOCK_TOKENS = 16;

  /** As many bytes as cost 800 tokens. */
  private static final int IMAGE_BYTES = 800 * 196;

  private final RequestReader reader = new RequestReader();

  private ParsedRequest read(String path, String json) throws BadRequestException {
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    return reader.read(path, BodyBytes.of(body));
  }

  private ParsedRequest message(String... parts) throws BadRequestException {
    return read(
        CHAT, "{\"model\":\"m\",\"messages\":[{\"content\":[" + String.join(",", parts) + "]}]}");
  }

  private static String base64(int bytes, long seed) {
    byte[] content = new byte[bytes];
    new SplittableRandom(seed).nextBytes(content);
    return Base64.getEncoder().encodeToString(content);
  }

  private static String image(long seed) {
    return "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,"
        + base64(IMAGE_BYTES, seed)
        + "\"}}";
  }

  private static String text(String text) {
    return "{\"type\":\"text\",\"text\":\"" + text + "\"}";
  }

  @Test
  void anImageIsNoTextAndFillsTheBlocksOfItsTokens() throws BadRequestException {
    ParsedRequest without = message(text("x".repeat(640)));
    ParsedRequest with = message(image(1), text("x".repeat(640)));

    String around = "{\"type\":\"image_url\",\"image_url\":{\"url\":}},";
    assertThat(with.prompt())
        .isEqualTo(new PromptSize(without.prompt().textBytes() + around.length(), 800));
    assertThat(with.blocks())
        .hasSize((int) ((with.prompt().textBytes() / 4 + 800) / BLOCK_TOKENS))
        .hasSizeLessThan(65);
  }

  @Test
  void equalImagesInEqualPlacesMatchAndOthersDoNot() throws BadRequestException {
    long[] one = message(text("before"), image(1), text("behind ".repeat(40))).blocks();
    long[] again = message(text("before"), image(1), text("behind ".repeat(40))).blocks();
    long[] other = message(text("before"), image(2), text("behind ".repeat(40))).blocks();
    long[] elsewhere = message(image(1), text("before"), text("behind ".repeat(40))).blocks();
    long[] more = message(text("before"), image(1), text("behind ".repeat(40) + "more")).blocks();

    assertThat(again).isEqualTo(one);
    assertThat(other).hasSameSizeAs(one).startsWith(one[0]);
    assertThat(commonBlocks(one, other)).as("up to where the images stand").isBetween(1, 2);
    assertThat(commonBlocks(one, elsewhere)).isZero();
    assertThat(commonBlocks(one, more)).isGreaterThan(50 + 3).isGreaterThan(one.length - 3);
  }

  private static int commonBlocks(long[] one, long[] other) {
    int common = 0;
    while (common < Math.min(one.length, other.length) && one[common] == other[common]) {
      common++;
    }
    return common;
  }

  @Test
  void theSameImageHasTheSameHashesInAnyPieceOfTheBody() throws BadRequestException {
    String spaced =
        "{ \"messages\" : [ { \"content\" : [ "
            + image(1).replace("{", "{ ").replace("url\":", "url\" :\n")
            + " ] } ] , \"model\" : \"m\" }";
    assertThat(read(CHAT, spaced).blocks()).isEqualTo(message(image(1)).blocks());
    assertThat(read(CHAT, spaced).prompt()).isEqualTo(message(image(1)).prompt());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "/v1/chat/completions | {'type':'image_url','image_url':{'url':'https://x/y.png'}} | 768",
        "/v1/chat/completions | {'type':'image_url','image_url':{'url':'https://x/y.png','detail':'low'}} | 85",
        "/v1/chat/completions | {'image_url':{'detail':'low','url':'https://x/y.png'}} | 85",
        "/v1/chat/completions | {'image_url':{'detail':'high','url':'https://x/y.png'}} | 768",
        "/v1/chat/completions | {'im\\u0061ge_url':{'url':'https://x/y.png'}} | 768",
        "/v1/chat/completions | {'type':'image_url','image_url':{'url':'data:image/png;base64,AAAA'}} | 64",
        "/v1/chat/completions | {'type':'image_url','image_url':{'url':'data:image\\/png;base64,AAAA'}} | 64",
        "/v1/chat/completions | {'type':'video_url','video_url':{'url':'https://x/y.mp4'}} | 4608",
        "/v1/chat/completions | {'type':'audio_url','audio_url':{'url':'https://x/y.mp3'}} | 750",
        "/v1/chat/completions | {'type':'input_audio','input_audio':{'data':'#96000','format':'mp3'}} | 200",
        "/v1/chat/completions | {'type':'input_audio','input_audio':{'format':'wav','data':'#96000'}} | 75",
        "/v1/chat/completions | {'type':'input_audio','input_audio':{'data':'#96000','format':'wav'}} | 75",
        "/v1/chat/completions | {'type':'file','file':{'filename':'a.pdf','file_data':'data:application/pdf;base64,#100000'}} | 2000",
        "/v1/chat/completions | {'type':'file','file':{'file_data':'#100000'}} | 2000",
        "/v1/chat/completions | {'type':'file','file':{'file_id':'file-1'}} | 4000",
        "/v1/responses | {'type':'input_image','image_url':'https://x/y.png','detail':'low'} | 85",
        "/v1/responses | {'detail':'low','image_url':'https://x/y.png','type':'input_image'} | 85",
        "/v1/responses | {'file_id':'file-1','type':'input_image'} | 768",
        "/v1/responses | {'type':'input_file','file_url':'https://x/y.pdf'} | 4000",
        "/v1/responses | {'type':'image_generation_call','id':'ig_1','result':'#19600'} | 100",
        "/v1/responses | {'result':'#19600','id':'ig_1','type':'image_generation_call'} | 100",
        "/v1/responses | {'file_data':'data:text/plain;base64,#4000','type':'input_file'} | 1000",
        "/v1/messages | {'type':'image','source':{'type':'base64','media_type':'image/jpeg','data':'#19600'}} | 100",
        "/v1/messages | {'source':{'data':'#19600','media_type':'image/jpeg','type':'base64'},'type':'image'} | 100",
        "/v1/messages | {'type':'image','source':{'type':'url','url':'https://x/y.png'}} | 768",
        "/v1/messages | {'source':{'url':'https://x/y.png','type':'url'},'type':'image'} | 768",
        "/v1/messages | {'type':'document','source':{'type':'base64','media_type':'application/pdf','data':'#100000'}} | 2000",
        "/v1/messages | {'type':'document','source':{'type':'url','url':'https://x/y.pdf'}} | 4000",
        "/v1/messages | {'type':'tool_result','content':[{'type':'image','source':{'type':'file','file_id':'f'}}]} | 768",
      })
  void countsEachKindByItsSizeOrAsAUsualOne(String path, String part, int tokens)
      throws BadRequestException {
    String field = path.equals(RESPONSES) ? "input" : "messages";
    String json = part.replace('\'', '"').replace("\\\\", "\\");
    int hole = json.indexOf('#');
    String content = "";
    if (hole >= 0) {
      int bytes = Integer.parseInt(json.substring(hole + 1, json.indexOf('"', hole)));
      content = base64(bytes, 1);
      json = json.replace("#" + bytes, content);
    }

    ParsedRequest read =
        read(path, "{\"model\":\"m\",\"" + field + "\":[{\"content\":[" + json + "]}]}");

    assertThat(read.prompt().mediaTokens()).isEqualTo(tokens);
    assertThat(read.prompt().textBytes()).isLessThan(160);
    assertThat(read.blocks())
        .hasSize((int) ((read.prompt().textBytes() + 4L * tokens) / (4 * BLOCK_TOKENS)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'type':'document','source':{'type':'text','media_type':'text/plain','data':'a long text'}}",
        "{'type':'document','source':{'data':'a long text','media_type':'text/plain','type':'text'}}",
        "{'source':{'data':'a long text'}}",
        "{'source':{'url':'https://x/y.png','file_id':'f'}}",
        "{'type':'search_result','source':'https://x/y.png'}",
        "{'type':'file_citation','file_id':'file-1','file_url':'https://x'}",
        "{'type':'mcp_call','result':'a long text'}",
        "{'type':'text','text':'data:image/png;base64,AAAA'}",
        "{'url':'https://x/y.png','data':'AAAA','format':'wav','detail':'low'}",
        "{'image_url':['https://x/y.png'],'input_audio':[{'data':'AAAA'}]}",
        "{'image_url':7,'file_data':null,'source':{'type':'base64','data':[1]}}",
        "{'input_audio':{'data':{'data':'AAAA'}}}",
      })
  void whatOnlyLooksAlikeIsText(String part) throws BadRequestException {
    String messages = "[{\"content\":[" + part.replace('\'', '"') + text("y".repeat(100)) + "]}]";
    messages = messages.replace("}{", "},{");
    assertIsText(MESSAGES, "messages", messages);
  }

  @Test
  void toolsAreText() throws BadRequestException {
    assertIsText(
        "/other",
        "tools",
        "[{\"example\":{\"image_url\":{\"url\":\"https://x/y.png\"},\"file_data\":\"AAAA\"},\"x\":\""
            + "z".repeat(100)
            + "\"}]");
  }

  private void assertIsText(String path, String field, String prompt) throws BadRequestException {
    ParsedRequest read = read(path, "{\"model\":\"m\",\"" + field + "\":" + prompt + "}");
    assertThat(read.prompt()).isEqualTo(new PromptSize(prompt.length(), 0));
    assertThat(read.blocks()).isEqualTo(PromptHashes.of(prompt)).isNotEmpty();
  }

  @Test
  void textIsHashedAsItStands() throws BadRequestException {
    for (long seed = 0; seed < 300; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      StringBuilder compact = new StringBuilder();
      StringBuilder spaced = new StringBuilder();
      PromptHashes.random(random, compact, spaced);

      ParsedRequest read = read(CHAT, "{\"model\":\"m\", \"messages\":" + spaced + "}");

      assertThat(read.prompt()).as("seed %d", seed).isEqualTo(new PromptSize(compact.length(), 0));
      assertThat(read.blocks()).as("seed %d", seed).isEqualTo(PromptHashes.of(compact.toString()));
    }
  }

  @Test
  void aShortBodyDoesNotFillAsManyBlocksAsALongOne() throws BadRequestException {
    List<String> parts = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      parts.add("{\"type\":\"file\",\"file\":{\"file_id\":\"f" + i + "\"}}");
    }
    ParsedRequest read = message(parts.toArray(String[]::new));
    assertThat(read.prompt().mediaTokens()).as("they cost what they cost").isEqualTo(8_000_000);
    assertThat(read.blocks().length * 64L)
        .isLessThan(read.prompt().textBytes() + 2_000 * 8 + 4_096 * 64 + 64)
        .isGreaterThan(4_096 * 64);

    parts.set(1_000, "{\"type\":\"file\",\"file\":{\"file_id\":\"g1000\"}}");
    long[] other = message(parts.toArray(String[]::new)).blocks();
    assertThat(other).hasSameSizeAs(read.blocks()).isNotEqualTo(read.blocks());
  }
}
