package io.fairlead.epp.frontend.gateway;

import io.fairlead.epp.openai.RequestReader;

/**
 * What the connections of one event loop share.
 *
 * @param reader used for one body at a time
 * @param backends connections to endpoints
 * @param held answers that wait for their clients
 * @param unfinished heads and frames that wait for the rest of them
 */
record LoopResources(
    RequestReader reader, BackendPool backends, ClientBytes held, ClientBytes unfinished) {}
