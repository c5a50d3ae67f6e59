package io.fairlead.epp.frontend.gateway;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpHeadersFactory;
import io.netty.handler.codec.http.TooLongHttpHeaderException;

/** The fields of a head, or of trailers, while they are read: no more than there may be. */
final class BoundedFields extends DefaultHttpHeaders {

  private BoundedFields(DefaultHttpHeadersFactory like) {
    super(like.getNameValidator(), like.getValueValidator());
  }

  /** Makes them with names and values as {@code like} allows. */
  static HttpHeadersFactory like(DefaultHttpHeadersFactory like) {
    return new HttpHeadersFactory() {
      @Override
      public HttpHeaders newHeaders() {
        return new BoundedFields(like);
      }

      @Override
      public HttpHeaders newEmptyHeaders() {
        return new BoundedFields(like);
      }
    };
  }

  @Override
  public HttpHeaders add(CharSequence name, Object value) {
    bound();
    return super.add(name, value);
  }

  @Override
  public HttpHeaders add(String name, Object value) {
    bound();
    return super.add(name, value);
  }

  private void bound() {
    if (size() >= Framing.MAX_FIELDS) {
      throw new TooLongHttpHeaderException("more than " + Framing.MAX_FIELDS + " fields");
    }
  }
}
