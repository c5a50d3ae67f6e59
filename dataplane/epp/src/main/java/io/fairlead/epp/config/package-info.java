/** Where a pool's config comes from and how a new one gets in force. */
@NullMarked
package io.fairlead.epp.config;

import org.jspecify.annotations.NullMarked;
