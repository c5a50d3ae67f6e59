package io.fairlead.epp.openai;

/**
 * The values of {@code error.code} for requests that no endpoint should see. The codes of requests
 * that the pool turned away are those of {@link io.fairlead.core.Rejection.Reason}.
 */
public final class ErrorCodes {

  /** 400, or a stream of HTTP/2 that is reset: the request line or a header can't be read. */
  public static final String INVALID_HTTP = "invalid_http";

  /** 400: the body is not a JSON object in UTF-8, is nested too deeply, or has text after it. */
  public static final String INVALID_JSON = "invalid_json";

  /** 400: the body is not the form that its head says it is. */
  public static final String INVALID_FORM = "invalid_form";

  /** 400: {@code model} is missing, empty, not a string, or longer than a name can be. */
  public static final String INVALID_MODEL = "invalid_model";

  /** 400: a field that decides where the request goes is there twice. */
  public static final String DUPLICATE_FIELD = "duplicate_field";

  /** 400: the field that this path needs is missing, empty or of the wrong type. */
  public static final String MISSING_FIELD = "missing_field";

  /** 404: no such path here. */
  public static final String UNKNOWN_PATH = "unknown_path";

  /** 404: no such model, configured or served. */
  public static final String MODEL_NOT_FOUND = "model_not_found";

  /** 405: the path exists, the method does not. */
  public static final String METHOD_NOT_ALLOWED = "method_not_allowed";

  /** 408: the body stopped coming. */
  public static final String REQUEST_TIMEOUT = "request_timeout";

  /** 413: the body is longer than the limit. */
  public static final String BODY_TOO_LARGE = "body_too_large";

  /** 414: the request line is longer than is read. */
  public static final String URI_TOO_LONG = "uri_too_long";

  /** 415: the body is not declared as {@code application/json} in UTF-8. */
  public static final String UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type";

  /** 429: there is no memory for the body. */
  public static final String BODY_MEMORY_FULL = "body_memory_full";

  /** 431: the headers, or the trailers, are longer than is read. */
  public static final String HEADER_FIELDS_TOO_LARGE = "header_fields_too_large";

  /** 500: the gateway shows its requests to the picker in a way that is not served. */
  public static final String UNSERVED_MODE = "unserved_processing_mode";

  /** 500: an error of the picker's own. */
  public static final String PICKER_FAILED = "picker_failed";

  /** 501: the body has a transfer coding besides {@code chunked}. */
  public static final String UNSUPPORTED_TRANSFER_CODING = "unsupported_transfer_coding";

  /** 505: the request is of another major version than HTTP/1. */
  public static final String UNSUPPORTED_HTTP_VERSION = "unsupported_http_version";

  /** 503: as many connections are open as may be. */
  public static final String TOO_MANY_CONNECTIONS = "too_many_connections";

  /** No answer, a stream of HTTP/2 that is reset: as many are open as may be. */
  public static final String TOO_MANY_STREAMS = "too_many_streams";

  /** 503: too many requests wait for a decision. */
  public static final String PICKER_BUSY = "picker_busy";

  /** 503: the picker ends, and the request was not sent anywhere. */
  public static final String SHUTTING_DOWN = "shutting_down";

  private ErrorCodes() {}
}
