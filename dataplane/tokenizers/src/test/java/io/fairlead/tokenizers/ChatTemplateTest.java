package io.fairlead.tokenizers;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What clients write is text, whatever it looks like. */
class ChatTemplateTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{{ 7 * 7 }}",
        "{% for a in range(3) %}x{% endfor %}",
        "image: {{ .Values.image }}",
        "{# gone? #}",
        "{{ raise_exception('no') }}"
      })
  void aMessageIsNoTemplate(String text) {
    ChatTemplate template =
        new ChatTemplate("{% for m in messages %}<{{ m.content }}>{% endfor %}", "", "");
    ObjectNode request = JsonMapper.builder().build().createObjectNode();
    request.putArray("messages").addObject().put("role", "user").put("content", text);

    assertThat(template.render(request)).isEqualTo("<" + text + ">");
  }

  private static final String OF_TEXT = "{% for m in messages %}<{{ m.content }}>{% endfor %}";
  private static final String OF_PARTS =
      "{%- for m in messages %}<{%- for part in m['content'] %}[{{ part.text }}]{% endfor %}>"
          + "{%- endfor %}";
  private static final String OF_EITHER =
      "{% for m in messages %}{% if m.content is string %}<{{ m.content }}>{% else %}"
          + "{% for part in m.content %}[{{ part['text'] }}]{% endfor %}{% endif %}{% endfor %}";

  /** Where it takes parts vLLM makes parts of a text, too. */
  @Test
  void textComesInPartsWhereTheTemplateTakesThem() throws Exception {
    String parts =
        """
        {"messages": [{"role": "user", "content": [
          {"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}]}
        """;
    String text = "{\"messages\": [{\"role\": \"user\", \"content\": \"one\"}]}";

    assertThat(render(OF_TEXT, parts)).isEqualTo("<one\ntwo>");
    assertThat(render(OF_TEXT, text)).isEqualTo("<one>");
    assertThat(render(OF_PARTS, parts)).isEqualTo("<[one][two]>");
    assertThat(render(OF_PARTS, text)).isEqualTo("<[one]>");
    assertThat(render(OF_EITHER, parts)).isEqualTo("[one][two]");
    assertThat(render(OF_EITHER, text)).isEqualTo("[one]");
  }

  @ParameterizedTest
  @ValueSource(strings = {"continue_final_message\": true", "chat_template\": \"x\""})
  void whatIsLaidOutInAnotherWayIsNotKnown(String field) throws Exception {
    String request = "{\"messages\": [{\"role\": \"user\", \"content\": \"one\"}], \"%s}";
    assertThat(render(OF_TEXT, request.formatted(field))).isNull();
    assertThat(render(OF_TEXT, request.formatted("continue_final_message\": false"))).isNotNull();
  }

  private static @Nullable String render(String template, String request) throws Exception {
    return new ChatTemplate(template, "", "")
        .render(JsonMapper.builder().build().readTree(request));
  }
}
