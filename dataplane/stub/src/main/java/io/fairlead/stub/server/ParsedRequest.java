package io.fairlead.stub.server;

/** What came of reading the body of a request for work. */
sealed interface ParsedRequest
    permits ApiError, CompletionRequest, EmbeddingRequest, TranscriptionRequest {}
