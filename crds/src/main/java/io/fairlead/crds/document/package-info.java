/**
 * Strict reading and deterministic writing of configuration, with errors that name file, line and
 * field.
 */
@NullMarked
package io.fairlead.crds.document;

import org.jspecify.annotations.NullMarked;
