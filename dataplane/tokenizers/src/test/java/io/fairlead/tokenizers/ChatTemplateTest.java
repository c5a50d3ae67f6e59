package io.fairlead.tokenizers;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
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
}
