package io.fairlead.cli.explain;

import io.fairlead.cli.explain.ReceiptPage.Attempt;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A decision as another config would have made it.
 *
 * @param config where that stands
 * @param made null where nothing came of it
 * @param why nothing did; else empty
 * @param leftOut plugins that could not be asked again, with the reason
 * @param repeated plugins that say what they said then
 */
record OtherDecision(
    String config,
    @Nullable Attempt made,
    String why,
    Map<String, String> leftOut,
    List<String> repeated) {}
