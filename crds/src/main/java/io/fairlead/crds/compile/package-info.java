/**
 * From resources to the config document: pure, deterministic, with a finding for all that was left
 * out.
 */
@NullMarked
package io.fairlead.crds.compile;

import org.jspecify.annotations.NullMarked;
