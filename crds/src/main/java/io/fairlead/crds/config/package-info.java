/** The config document that one picker runs: plain records, no parser, no client. */
@NullMarked
package io.fairlead.crds.config;

import org.jspecify.annotations.NullMarked;
