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

  static ApiError stopping() {
    return new ApiError(500, "InternalServerError", "The server is shutting down.", null);
  }

  static ApiError dead() {
    return new ApiError(500, "InternalServerError", "The engine is dead.", null);
  }
}
