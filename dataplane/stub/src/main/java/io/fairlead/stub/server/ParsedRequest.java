package io.fairlead.stub.server;

/** What came of reading a completion request's body. */
sealed interface ParsedRequest permits ApiError, CompletionRequest {}
