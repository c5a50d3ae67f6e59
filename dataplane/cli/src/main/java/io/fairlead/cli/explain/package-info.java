/** fairlead explain: why a request went where it did. */
@NullMarked
package io.fairlead.cli.explain;

import org.jspecify.annotations.NullMarked;
