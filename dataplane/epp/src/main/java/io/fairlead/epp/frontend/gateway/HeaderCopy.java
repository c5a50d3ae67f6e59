package io.fairlead.epp.frontend.gateway;

import io.fairlead.epp.director.ReceivedHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request's headers as another loop may read them: the codec's own belong to theirs. Names and
 * values stay as the codec made them, which never change; only what is asked for becomes a string.
 */
final class HeaderCopy implements ReceivedHeaders {

  /** Name, value, name, value, … */
  private final CharSequence[] fields;

  HeaderCopy(HttpHeaders headers) {
    fields = new CharSequence[headers.size() * 2];
    int at = 0;
    Iterator<Map.Entry<CharSequence, CharSequence>> all = headers.iteratorCharSequence();
    while (all.hasNext()) {
      Map.Entry<CharSequence, CharSequence> header = all.next();
      fields[at++] = header.getKey();
      fields[at++] = header.getValue();
    }
  }

  @Override
  public @Nullable String first(String name) {
    for (int i = 0; i < fields.length; i += 2) {
      if (AsciiString.contentEqualsIgnoreCase(fields[i], name)) {
        return fields[i + 1].toString();
      }
    }
    return null;
  }

  @Override
  public boolean contradicts(String name) {
    CharSequence first = null;
    for (int i = 0; i < fields.length; i += 2) {
      if (AsciiString.contentEqualsIgnoreCase(fields[i], name)) {
        first = first == null ? fields[i + 1] : first;
        if (!AsciiString.contentEquals(first, fields[i + 1])) {
          return true;
        }
      }
    }
    return false;
  }
}
