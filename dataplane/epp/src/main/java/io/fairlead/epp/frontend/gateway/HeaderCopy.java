package io.fairlead.epp.frontend.gateway;

import io.fairlead.core.RequestHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A request's headers as another loop may read them: those of the codec belong to their own. */
final class HeaderCopy implements RequestHeaders {

  /** Name, value, name, value, … */
  private final String[] fields;

  HeaderCopy(HttpHeaders headers) {
    fields = new String[headers.size() * 2];
    int at = 0;
    Iterator<Map.Entry<CharSequence, CharSequence>> all = headers.iteratorCharSequence();
    while (all.hasNext()) {
      Map.Entry<CharSequence, CharSequence> header = all.next();
      fields[at++] = header.getKey().toString();
      fields[at++] = header.getValue().toString();
    }
  }

  @Override
  public @Nullable String first(String name) {
    for (int i = 0; i < fields.length; i += 2) {
      if (fields[i].equalsIgnoreCase(name)) {
        return fields[i + 1];
      }
    }
    return null;
  }
}
