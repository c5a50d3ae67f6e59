package io.fairlead.stub.server;

import org.jspecify.annotations.Nullable;

/** An error as the OpenAI API shapes it; {@code param} names the field at fault. */
record ApiError(int status, String type, String message, @Nullable String param)
    implements ParsedRequest {

  static ApiError badRequest(String message, @Nullable String param) {
    return new ApiError(400, "BadRequestError", message, param);
  }

  static ApiError noSuchModel(String model) {
    return new ApiError(404, "NotFoundError", "The model `" + model + "` does not exist.", "model");
  }

  static ApiError notFound(String path) {
    return new ApiError(404, "NotFoundError", "Nothing is served at " + path + ".", null);
  }

  static ApiError wrongMethod(String method, String path) {
    return new ApiError(
        405,
        "MethodNotAllowedError",
        "Method " + method + " is not allowed on " + path + ".",
        null);
  }

  static ApiError demanded(int status) {
    return new ApiError(status, "InternalServerError", "Failed on demand.", null);
  }

  /** An error that says nothing but its status. */
  static ApiError bare(int status) {
    return new ApiError(status, "", "", null);
  }

  /** A server that stops leaves the rest to its framework, which answers without a body. */
  static ApiError stopping() {
    return bare(500);
  }

  static ApiError dead() {
    return new ApiError(500, "InternalServerError", "The engine is dead.", null);
  }
}
