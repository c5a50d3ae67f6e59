package io.fairlead.epp.console;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * That there is a console.
 *
 * @param tokenFile file with the token that clients of other hosts must bring; null to show it to
 *     this host alone. Read again when it changes; it may come later
 */
public record ConsoleConfig(@Nullable Path tokenFile) {}
