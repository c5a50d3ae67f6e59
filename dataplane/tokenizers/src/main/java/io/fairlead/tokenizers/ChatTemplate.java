package io.fairlead.tokenizers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.TextNode;
import com.hubspot.jinjava.Jinjava;
import com.hubspot.jinjava.JinjavaConfig;
import com.hubspot.jinjava.interpret.JinjavaInterpreter;
import com.hubspot.jinjava.interpret.RenderResult;
import com.hubspot.jinjava.lib.filter.Filter;
import com.hubspot.jinjava.lib.fn.ELFunctionDefinition;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A model's chat template: makes one text of a conversation, as {@code transformers} does. What the
 * template asks for and can't be had makes no text at all: a text that is nearly right would be a
 * prompt that no server has.
 */
final class ChatTemplate {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Longer than any context, in characters. */
  private static final long LONGEST = 64L << 20;

  /** A loop over the parts of a message: by it vLLM knows that a template takes parts. */
  private static final Pattern OVER_PARTS =
      Pattern.compile("\\{%\\s*for\\s+\\w+\\s+in\\s+[^%]*\\bcontent\\b");

  private static final Pattern SPACE_BEFORE = Pattern.compile("\\s*(\\{[{%#])-");
  private static final Pattern SPACE_AFTER = Pattern.compile("-([}%#]})\\s*");

  private final Jinjava jinjava;
  private final String template;
  private final boolean takesParts;
  private final String bosToken;
  private final String eosToken;

  ChatTemplate(String template, String bosToken, String eosToken) {
    this.template = tight(template);
    takesParts = OVER_PARTS.matcher(this.template).find();
    this.bosToken = bosToken;
    this.eosToken = eosToken;
    jinjava =
        new Jinjava(
            JinjavaConfig.newBuilder()
                .withTrimBlocks(true)
                .withLstripBlocks(true)
                .withKeepTrailingNewline(true)
                .withMaxOutputSize(LONGEST)
                .withFailOnUnknownTokens(false)
                // What clients write is text, also where it looks like a template.
                .withNestedInterpretationEnabled(false)
                .build());
    jinjava.getGlobalContext().registerFilter(new ToJson());
    jinjava
        .getGlobalContext()
        .registerFunction(
            new ELFunctionDefinition(
                "", "raise_exception", ChatTemplate.class, "raise", String.class));
    jinjava
        .getGlobalContext()
        .registerFunction(
            new ELFunctionDefinition("", "strftime_now", ChatTemplate.class, "now", String.class));
  }

  /** Takes away the space that a dash in a tag asks to: Jinjava leaves it at expressions. */
  private static String tight(String template) {
    String before = SPACE_BEFORE.matcher(template).replaceAll("$1");
    return SPACE_AFTER.matcher(before).replaceAll("$1");
  }

  /** The text of a request's conversation; null where it can't be known. */
  @Nullable String render(JsonNode request) {
    List<Object> messages = messages(request.path("messages"));
    if (messages == null) {
      return null;
    }
    Map<String, Object> values = new HashMap<>();
    request
        .path("chat_template_kwargs")
        .properties()
        .forEach(field -> values.put(field.getKey(), plain(field.getValue())));
    values.put("messages", messages);
    values.put("add_generation_prompt", request.path("add_generation_prompt").asBoolean(true));
    values.put("bos_token", bosToken);
    values.put("eos_token", eosToken);
    JsonNode tools = request.path("tools");
    if (!tools.isEmpty()) {
      values.put("tools", plain(tools));
    }
    if (request.hasNonNull("chat_template")
        || request.hasNonNull("documents")
        || request.path("continue_final_message").asBoolean()) {
      return null; // laid out in a way of its own
    }
    RenderResult result = jinjava.renderForResult(template, values);
    return result.hasErrors() ? null : result.getOutput();
  }

  /**
   * Each with its text as one, or as parts where the template takes these, as vLLM does; null where
   * there is more than text.
   */
  private @Nullable List<Object> messages(JsonNode messages) {
    if (!messages.isArray() || messages.isEmpty()) {
      return null;
    }
    List<Object> all = new ArrayList<>();
    for (JsonNode message : messages) {
      if (!(plain(message) instanceof Map<?, ?> fields)) {
        return null;
      }
      Map<Object, Object> own = new LinkedHashMap<>(fields);
      JsonNode content = message.path("content");
      if (content.isTextual() && takesParts) {
        own.put("content", List.of(part(content.textValue())));
      } else if (content.isArray()) {
        List<String> texts = new ArrayList<>();
        for (JsonNode part : content) {
          if (!part.path("text").isTextual() || !part.path("type").asText("text").equals("text")) {
            return null;
          }
          texts.add(part.path("text").textValue());
        }
        own.put(
            "content",
            takesParts
                ? texts.stream().map(ChatTemplate::part).toList()
                : String.join("\n", texts));
      }
      all.add(own);
    }
    return all;
  }

  private static Map<String, String> part(String text) {
    return Map.of("type", "text", "text", text);
  }

  private static @Nullable Object plain(JsonNode node) {
    return JSON.convertValue(node, Object.class);
  }

  /** What a template calls that does not take a conversation. */
  @SuppressWarnings("DoNotCallSuggester") // templates call it
  public static String raise(String why) {
    throw new IllegalArgumentException(why);
  }

  /** Today, in a pattern as Python has them; the few that templates use. */
  public static String now(String pattern) {
    StringBuilder text = new StringBuilder();
    LocalDateTime now = LocalDateTime.now(ZoneId.systemDefault());
    for (int i = 0; i < pattern.length(); i++) {
      char c = pattern.charAt(i);
      if (c != '%' || i + 1 == pattern.length()) {
        text.append(c);
        continue;
      }
      String java =
          switch (pattern.charAt(++i)) {
            case 'd' -> "dd";
            case 'm' -> "MM";
            case 'Y' -> "yyyy";
            case 'b' -> "MMM";
            case 'B' -> "MMMM";
            case 'H' -> "HH";
            case 'M' -> "mm";
            case 'S' -> "ss";
            default ->
                throw new IllegalArgumentException("%" + pattern.charAt(i) + " is not known");
          };
      text.append(now.format(DateTimeFormatter.ofPattern(java, Locale.ENGLISH)));
    }
    return text.toString();
  }

  /** Writes JSON as Python's {@code json.dumps} does, which differs in its spaces. */
  static final class ToJson implements Filter {

    @Override
    public String getName() {
      return "tojson";
    }

    @Override
    public Object filter(
        @Nullable Object value, JinjavaInterpreter interpreter, String... arguments) {
      if (arguments.length > 0) {
        throw new IllegalArgumentException("tojson with settings is not known");
      }
      StringBuilder text = new StringBuilder();
      write(JSON.valueToTree(value), text);
      return text.toString();
    }

    private static void write(JsonNode node, StringBuilder to) {
      if (node.isObject()) {
        to.append('{');
        String before = "";
        for (Map.Entry<String, JsonNode> field : node.properties()) {
          to.append(before).append(TextNode.valueOf(field.getKey())).append(": ");
          write(field.getValue(), to);
          before = ", ";
        }
        to.append('}');
      } else if (node.isArray()) {
        to.append('[');
        String before = "";
        for (JsonNode each : node) {
          to.append(before);
          write(each, to);
          before = ", ";
        }
        to.append(']');
      } else {
        to.append(node);
      }
    }
  }
}
