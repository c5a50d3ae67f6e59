/** Tests of config sources. */
@NullMarked
package io.fairlead.epp.config;

import org.jspecify.annotations.NullMarked;
